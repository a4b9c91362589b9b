#!/bin/sh
# Plain English: words that say something else than is meant here, or make persons of code, and what
# to write instead.
#   check_words.sh ROOT
set -eu
instead='behind: after, beyond or through
told: reported, notified, distinguished or recognised
so many: this many
so much: this much
nobody: no operator, no request …, or a passive ("is not published")
somebody: another, a request …
takes along: fuses, holds
rides along: is fused
to be had: available, feasible
was seen at: has reached'
pattern=$(printf '%s\n' "$instead" | sed 's/:.*//' | paste -sd '|' -)
cd "$1"
found=$(find README.md CHANGELOG.md docs model hw workloads calib reports \
  \( -name node_modules -o -path calib/data -o -path calib/measurements/data \) -prune -o -type f \
  \( -name '*.[ch]pp' -o -name '*.cu' -o -name '*.js' -o -name '*.mjs' -o -name '*.css' -o -name '*.html' \
  -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt -o -name '*.md' -o -name '*.yaml' -o -name 'tasks.json' \) \
  ! -name check_words.sh ! -name checks_test.sh -print0 2>/dev/null |
  LC_ALL=C sort -z | xargs -0 -r grep -niwE "$pattern" /dev/null | cut -c1-160 || true)
[ -z "$found" ] || {
  printf '%s\n\nwrite instead:\n%s\n' "$found" "$instead"
  exit 1
}
