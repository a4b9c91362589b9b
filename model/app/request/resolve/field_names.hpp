// What the fields of a request are called where a person wrote them. Messages name options; where
// the request came from a table or a YAML file, its own names take their place.
#pragma once

#include <map>
#include <string>

namespace foretell {

// By option, without its dashes: "input-len" -> "input_len".
using FieldNames = std::map<std::string, std::string>;

FieldNames column_names_of_fields();  // of tables: "seq" -> "seq_len", "dtype" -> "compute_dtype"
FieldNames key_names_of_fields();     // of studies and scenarios

// "lower --input-len" and "input-len = 9" with the names in place of the options, and "--on
// p5.48xlarge
// --tp 8" as "system = p5.48xlarge, tp = 8". Commands in backticks, and options without a name,
// stay as they are.
std::string with_names(const std::string& message, const FieldNames& names);

}  // namespace foretell
