// How a distribution is given in place of a number: "uniform:16..512", "uniform:16..512:16" (every
// sixteenth), "list:40/120/900" (equally likely; one that is given twice counts twice),
// "histogram:FILE" (CSV with the columns length and weight).
#pragma once

#include <cstdint>
#include <string_view>

#include "workloads/ir/distribution.hpp"

namespace foretell {

// Whether the text wants to be a distribution, well written or not.
bool is_distribution(std::string_view text);

// A distribution of whole numbers from `low` to `high`; a number alone is certain. UserErrors start
// with `name`, those about a histogram also with its file and line.
Distribution parse_distribution(std::string_view name, std::string_view text, std::int64_t low,
                                std::int64_t high);

// Different values that a distribution of lengths may have.
inline constexpr std::size_t kMaxLengths = 10'000;

}  // namespace foretell
