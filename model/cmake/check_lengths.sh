#!/usr/bin/env bash
# check_lengths.sh [ROOT]: no source file is longer than 500 lines.
set -euo pipefail
cd "${1:-$(dirname "$0")/../..}"

find . \( -name node_modules -o -name build -o -name .git \) -prune -o -type f \
  \( -name '*.[ch]pp' -o -name '*.cu' -o -name '*.js' -o -name '*.mjs' -o -name '*.css' -o -name '*.html' \
  -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt \) -print0 | LC_ALL=C sort -z |
  xargs -0 -r awk '
    FNR == 501 { print FILENAME ": longer than 500 lines, split it"; bad = 1; nextfile }
    END { exit bad }'
