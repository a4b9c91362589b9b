// A JSON string literal, quoted and escaped, for small objects that are written by hand.
#pragma once

#include <string>
#include <string_view>

namespace foretell {

std::string json_text(std::string_view text);  // bytes that are no UTF-8 are replaced

}  // namespace foretell
