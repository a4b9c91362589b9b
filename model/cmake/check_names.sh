#!/bin/sh
# No chip, architecture, kernel library or release is named in C++: what depends on one is data.
# The names are those of the files in hw/; comments and tests may have them.
#   check_names.sh ROOT
set -eu
root=$1
# Files that may name what they talk to, each with its reason.
#   calib/measure/: the measuring programs link these libraries and tell chips by what drivers say
#   calib/import/record_tables: reads how those programs call themselves
#   model/app/command/: examples in --help
allowed='^calib/measure/|^calib/import/record_tables\.|^model/app/command/'
cd "$root"
names=$(
  for folder in hw/devices/gpu hw/devices/cpu hw/cores/gpu hw/kernels; do
    for file in "$folder"/*.yaml; do
      name=$(basename "$file" .yaml)
      [ "$name" = choice ] || printf '%s\n' "$name"
    done
  done | sort -u | paste -sd'|'
)
# A release inside quotes: 1.3.0rc20, 0.5.6.post2.
release='[0-9]+\.[0-9]+\.[0-9]+(rc|\.post)[0-9]+'
failed=0
for file in $(find model hw workloads calib reports -name '*.cpp' -o -name '*.hpp' | sort); do
  case $file in
    *_test.cpp | *_test_*.hpp | */testing/* | model/bench/*) continue ;;
  esac
  if printf '%s\n' "$file" | grep -Eq "$allowed"; then continue; fi
  hits=$(sed -e 's@//.*$@@' "$file" | grep -nE "\"[^\"]*\b($names)\b[^\"]*\"|\"[^\"]*$release" || true)
  if [ -n "$hits" ]; then
    failed=1
    printf '%s\n' "$hits" | sed "s@^@$file:@"
  fi
done
if [ "$failed" = 1 ]; then
  echo "names of chips, libraries or releases belong into hw/, not into C++"
  exit 1
fi
