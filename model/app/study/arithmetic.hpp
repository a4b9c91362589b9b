// Arithmetic of studies, in numbers with units: derived values, constraints, objectives.
//
//   "${device.hbm.bandwidth} / 48"        "min(${tp}, 8) * 2 GiB"
//   "${system.price.on_demand} <= 2 USD/h and ${dtype} != 'fp8'"
//
// The grammar is that of model/config/expression_tree.hpp; names are written ${NAME}, and there are
// the functions min, max, floor, ceil, round, sqrt and log2. Units are carried along: sums and
// comparisons of different dimensions are errors. A comparison is 1 when it holds and 0 when not.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/config/unit_text.hpp"

namespace foretell {

// A number in base units with its dimension, or a word.
struct StudyValue {
  bool is_number = false;
  double number = 0;
  Dimension dimension = {};
  std::string word = {};
};

// Numbers of one dimension: InternalError for others.
double ratio_of(const StudyValue& value, const StudyValue& other);
bool is_less(const StudyValue& value, const StudyValue& other);
StudyValue scaled(StudyValue value, double factor);

// "820 GB/s" is a number, "bf16" a word.
StudyValue parse_study_value(std::string_view text);

// As it is written in files and overrides. UserError for a dimension that has no unit.
std::string to_study_text(const StudyValue& value);

using StudyNames = std::function<StudyValue(const std::string& name)>;

// UserErrors say what is wrong in the text; those of `names` pass through.
StudyValue evaluate(std::string_view text, const StudyNames& names);

// The names in ${…}, in order, repeated ones once.
std::vector<std::string> names_in(std::string_view text);

}  // namespace foretell
