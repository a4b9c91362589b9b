// A JSON string literal, quoted and escaped, for small objects that are written by hand.
#pragma once

#include <string>
#include <string_view>

namespace foretell {

std::string json_text(std::string_view text);  // bytes that are no UTF-8 are replaced

// A cell of a column of numbers: the number as it is written, null where there is none, text where
// the cell is no number of JSON ("007", "16 GB").
std::string json_number_or_text(std::string_view cell);

}  // namespace foretell
