// Lists of sizes as engines state them: "1,2,4,8..256/8,272..512/16".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace foretell {

// Ascending. "a..b/s" stands for a, a + s, … up to b. "" and "none" are no sizes. UserError that
// shows the form for anything else, and for sizes that do not ascend.
std::vector<std::int64_t> parse_size_list(std::string_view text);

// The smallest size that holds `count`; 0 when there is none.
std::int64_t padded_size(const std::vector<std::int64_t>& sizes, std::int64_t count);

}  // namespace foretell
