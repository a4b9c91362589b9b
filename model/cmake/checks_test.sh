#!/usr/bin/env bash
# The checks find what they are for: each case plants one violation in an
# otherwise clean tree and expects its message.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

plant() { mkdir -p "$tree/$(dirname "$1")" && printf '%s\n' "${@:2}" >"$tree/$1"; }

clean_tree() {
  rm -rf "${tree:?}"/*
  mkdir -p "$tree"/{model/cmake,hw,workloads,calib,reports}
  cp "$here/layers.txt" "$tree/model/cmake/"
  plant model/base/units.hpp '#include <cmath>'
  plant model/timing/x.cpp '#include "model/timing/x.hpp"' '#include "hw/spec/x.hpp"' '#include <fmt/core.h>'
  plant model/timing/x_test.cpp '#include <gtest/gtest.h>'
}

passes() { "$here/$1" "$tree" || { echo "$1 refuses a clean tree: $2"; exit 1; }; }

# finds SCRIPT TEXT: the script fails and its output has TEXT.
finds() {
  local output
  if output=$("$here/$1" "$tree"); then
    echo "$1 lets this pass: $2"
    exit 1
  fi
  [[ $output == *"$2"* ]] || { echo "$1 says '$output' instead of '$2'"; exit 1; }
}

clean_tree
passes check_layers.sh
plant model/timing/y.cpp '' '#include "model/components/neuron/engine.hpp"'
finds check_layers.sh 'model/timing/y.cpp:2: model/timing may not include "model/components/neuron/engine.hpp"'

clean_tree
plant model/timing/y.cpp '#include <systemc>'
finds check_layers.sh 'model/timing/y.cpp:1: model/timing has no door for <systemc>'

clean_tree
plant model/timing/y.cpp '#include <gtest/gtest.h>'
finds check_layers.sh 'model/timing has no door for <gtest/gtest.h>'

clean_tree
plant model/timing/y.cpp '#include "x.hpp"'
finds check_layers.sh 'model/timing may not include "x.hpp"'

clean_tree
plant model/base/y.hpp '  #  include "hw/spec/x.hpp"'
finds check_layers.sh 'model/base may not include "hw/spec/x.hpp"'

# Rooms of one row share its rights, not one another.
clean_tree
plant hw/y.hpp '#include "model/program/program.hpp"'
finds check_layers.sh 'hw may not include "model/program/program.hpp"'

clean_tree
plant model/elsewhere/y.cpp 'int y;'
finds check_layers.sh 'its folder has no row in model/cmake/layers.txt'

clean_tree
plant model/base/long.cpp "$(seq 500 | sed 's/^/int x/; s/$/;/')"
passes check_lengths.sh '500 lines'
echo "int y;" >>"$tree/model/base/long.cpp"
finds check_lengths.sh 'model/base/long.cpp: longer than 500 lines'

# A file of hw/ names what C++ does not: in quotes, but for comments, tests and examples of the application.
name_tree() { clean_tree && plant hw/devices/gpu/v9.yaml 'kind: gpu'; }
name_tree
plant model/timing/y.cpp 'int v9; // "v9"'
plant model/timing/y_test.cpp 'const char* kChip = "v9";'
plant model/app/y.cpp 'const char* kHelp = "foretell run --on v9";'
passes check_names.sh 'comments, tests and examples'
plant model/timing/z.cpp '' 'const char* kChip = "v9";'
finds check_names.sh 'model/timing/z.cpp:2:const char* kChip = "v9";'
name_tree
plant model/app/y.cpp 'const char* kRelease = "1.3.0rc20";'
finds check_names.sh 'model/app/y.cpp:1:'

# Constants, functions and registries that the list names pass.
clean_tree
plant model/base/y.cpp '  static const std::map<int, int> kTable = {' 'constexpr int kMost = 3;' \
  '  static constexpr double kShare = 0.5;' '  static std::int64_t row_of(const Op& op, int row);' \
  '  static Catalog load(const fs::path& hw = hw_folder());' '  static std::string name();' \
  'std::string Thing::text() const {' '  return static_cast<int>(x);' '// static int commented = 0;'
plant model/base/y_test.cpp '  static int calls = 0;'
plant model/app/request/family/device_families.cpp '  static std::vector<const DeviceFamily*> all = {'
passes check_statics.sh 'constants and registries'
for variable in '  static std::map<std::string, Node> known;' 'thread_local bool is_known = false;' \
  'bool is_known = false;' 'std::map<std::string, int> known;' '  static KeptValues<Node> known(64);' \
  '  static int known = 0;' '  static const Device* known = nullptr;' 'static std::mutex known;' \
  'inline std::vector<int> known;'; do
  clean_tree
  plant model/base/y.cpp "$variable"
  finds check_statics.sh 'model/base/y.cpp:1: '
done

clean_tree
plant model/base/number_text.cpp 'auto result = std::from_chars(begin, end, value);'
plant model/base/y_test.cpp 'EXPECT_EQ(std::stod(text), 1);'
passes check_numbers.sh 'the one reader, and tests'
for reader in 'std::strtod(text, &end)' 'std::stoi (text)' 'atoll(text)' 'std::from_chars(a, b, c)' \
  'boost::lexical_cast<int>(text)'; do
  clean_tree
  plant model/base/y.cpp "  const double x = $reader;"
  finds check_numbers.sh 'model/base/y.cpp:1:'
done

clean_tree
plant model/testing/temporary_folder.hpp 'fs::temp_directory_path() / "foretell-XXXXXX"'
passes check_folders.sh 'the one folder of tests'
for folder in 'fs::path(::testing::TempDir()) / "rows"' 'fs::temp_directory_path() / "rows"'; do
  clean_tree
  plant model/base/y_test.cpp "  const fs::path folder = $folder;"
  finds check_folders.sh 'model/base/y_test.cpp:1:'
done

clean_tree
plant model/base/y.cpp '// Behindhand, so long, foretold.'
passes check_words.sh 'words that hold one of the list'
for words in '// The caller is told.' '// one kernel behind another' '  "so many tokens"'; do
  clean_tree
  plant model/base/y.cpp "$words"
  finds check_words.sh 'model/base/y.cpp:1:'
done
