#!/bin/sh
# Numbers are read from text in one place, model/base/number_text.hpp, so that what a number is does
# not depend on who asks. Tests may do what they like.
#   check_numbers.sh ROOT
set -eu
cd "$1"
if grep -rnE '\b(from_chars|strto[dfl]+|strtou?ll?|sto[dfil]|stoull?|stoll|stold|ato[fil]|atoll|sscanf|lexical_cast)[ ]*[<(]' \
  model hw workloads calib reports --include='*.cpp' --include='*.hpp' |
  grep -vE '^[^:]*(_test\.cpp|_test_[^:/]*\.hpp|/testing/[^:]*|^model/base/number_text\.cpp):'; then
  echo "a reader of numbers of its own; use model/base/number_text.hpp or model/config/unit_text.hpp"
  exit 1
fi
