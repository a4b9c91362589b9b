// What options of this program are called by other programs of the field.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretell {

// The option out of `known` that other programs call `name`, "--input-len" for "--isl"; empty
// where there is none. Names are those of the documented command lines of serving engines and
// their benchmarks, and the words of the field.
std::string known_elsewhere(std::string_view name, const std::vector<std::string>& known);

}  // namespace foretell
