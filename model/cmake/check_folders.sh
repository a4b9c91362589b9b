#!/bin/sh
# Tests run side by side, as many processes: one that names its file or folder shares it with others.
# A test's files lie in a TemporaryFolder (model/testing/temporary_folder.hpp).
#   check_folders.sh ROOT
set -eu
cd "$1"
if grep -rnE '\bTempDir\(|\btemp_directory_path\(' model hw workloads calib reports \
  --include='*_test*.cpp' --include='*_test*.hpp' --include='*.hpp' |
  grep -v '^model/testing/temporary_folder\.hpp:'; then
  echo "a folder of a test's own; use model/testing/temporary_folder.hpp"
  exit 1
fi
