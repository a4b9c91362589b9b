#!/usr/bin/env bash
# check_format.sh [--fix]: the C++ sources against .clang-format.
set -euo pipefail
cd "$(dirname "$0")/../.."

mode=(--dry-run --Werror)
[[ "${1:-}" == --fix ]] && mode=(-i)
find model hw workloads calib reports -name node_modules -prune -o \( -name '*.cpp' -o -name '*.hpp' -o -name '*.cu' \) -print0 |
  xargs -0 -r -n 100 -P "$(nproc)" clang-format "${mode[@]}"
