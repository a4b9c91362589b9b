#!/usr/bin/env bash
# What quickstart prints of a build on a pipe: a line every five per cent, and every other line of ninja.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

expect() { # expect NAME GOT EXPECTED
  [[ "$2" == "$3" ]] || { printf '%s: got\n%s\nexpected\n%s\n' "$1" "$2" "$3"; exit 1; }
}

steps() { for i in $(seq 1 400); do printf '[%3d%% %d/400] Building x%d\n' $((i / 4)) "$i" "$i"; done; }

lines=$(steps | sparse_progress)
expect 'one line every five per cent' "$(wc -l <<<"$lines")" 21
expect 'the first' "$(head -n 1 <<<"$lines")" '     0 % built, step 1/400'
expect 'the last' "$(tail -n 1 <<<"$lines")" '   100 % built, step 400/400'

expect 'errors are kept' \
  "$(printf '[ 1%% 1/99] A\nFAILED: x.o\nx.cpp:1: error: no\n[ 2%% 2/99] B\n' | sparse_progress)" \
  $'     1 % built, step 1/99\nFAILED: x.o\nx.cpp:1: error: no'

status=0
(exit 3) | sparse_progress || status=$?
expect 'a build that fails fails' "$status" 3

# The times of parts are said at the end, also of one that fails.
status=0
times=$(bash -c "source '${BASH_SOURCE[0]%/*}/setup.sh'; trap show_times EXIT; timed good true; timed bad false; timed never true") || status=$?
expect 'a part that fails fails' "$status" 1
expect 'parts' "$(grep -c '0 min 0[01] s' <<<"$times")" 3
expect 'the one that failed' "$(grep -c '^   bad .*, not finished' <<<"$times")" 1
