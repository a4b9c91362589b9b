// A number of something, as it is written: "h200-sxm-x4", "h200x4" and "4xh200" are four of one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace foretell {

struct CountedName {
  std::string name;         // letters and digits apart: "h-200-sxm"
  std::int64_t count = -1;  // none is stated
};

// Nothing stands between the number, its x and the end of the name but spaces: "-3xh100" states
// none.
CountedName counted_name(std::string_view id);

}  // namespace foretell
