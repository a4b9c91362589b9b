#!/usr/bin/env bash
# check_adding.sh [ROOT]: what docs/adding.md says is true. Every path in it exists; and where a row names an
# example after "such as", the example's word stands in none but the files of its row, tests and data apart.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"
bad=0
complain() {
  echo "docs/adding.md: $*"
  bad=1
}

while IFS='|' read -r _ change files example _; do
  [[ "$files" == *'`'* ]] || continue
  listed=()
  while read -r path; do
    matches=$(compgen -G "$path" || true)
    [[ -n "$matches" ]] || complain "$path: no such file"
    listed+=("$path")
  done < <(grep -o '`[^`]*`' <<<"$files" | tr -d '`' | sed 's/ONE/*/g')
  word=$(grep -o 'such as `[^`]*`' <<<"$example" | sed 's/.*`\(.*\)`/\1/' || true)
  [[ -n "$word" ]] || continue
  found=$(grep -rlwI --include='*.cpp' --include='*.hpp' --include='*.js' --exclude='*_test*' --exclude-dir=node_modules \
    --exclude-dir=testing --exclude-dir=generated -e "$word" model hw workloads calib reports || true)
  [[ -n "$found" ]] || complain "the example $word of '${change// /}' is nowhere"
  while read -r file; do
    known=
    for path in "${listed[@]}"; do
      # shellcheck disable=SC2053  # the path may be a pattern
      [[ "$file" == $path ]] && known=yes
    done
    [[ -z "$file" || -n "$known" ]] || complain "$word stands in $file, which the row '$change' does not list"
  done <<<"$found"
done <docs/adding.md
exit $bad
