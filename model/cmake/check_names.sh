#!/bin/sh
# No chip, system, architecture, kernel library or release is named in C++: what depends on one is
# data. The names are those of the files in hw/; comments, tests, benchmarks and examples in --help
# and messages may have them.
#   check_names.sh ROOT
set -eu
root=$1
# Lines of model/app that are examples: a command line, what an option may be, what to type instead.
example='foretell |--[a-z]|for example|names no|kExample'
cd "$root"
names=$(
  for folder in hw/devices hw/devices/gpu hw/devices/cpu hw/cores hw/cores/gpu hw/systems hw/kernels; do
    for file in "$folder"/*.yaml; do
      [ -e "$file" ] || continue
      name=$(basename "$file" .yaml)
      [ "$name" = choice ] || printf '%s\n' "$name"
    done
  done | sort -u | paste -sd'|'
)
# A release inside quotes: 1.3.0rc20, 0.5.6.post2.
release='[0-9]+\.[0-9]+\.[0-9]+(rc|\.post)[0-9]+'
named="\"[^\"]*\b($names)\b[^\"]*\"|\"[^\"]*$release"
# All files at once; then what remains of these lines without their comments.
hits=$(
  find model hw workloads calib reports \( -name '*.cpp' -o -name '*.hpp' \) \
    ! -name '*_test.cpp' ! -name '*_test_*.hpp' ! -path '*/testing/*' ! -path 'model/bench/*' -print0 |
    sort -z | xargs -0 grep -HnE "$named" /dev/null | sed -e 's@//.*$@@' | grep -E "$named" |
    grep -Ev -- "^model/app/[^:]*:.*($example)" || true
)
if [ -n "$hits" ]; then
  printf '%s\n' "$hits"
  echo "names of chips, libraries or releases belong into hw/, not into C++"
  exit 1
fi
