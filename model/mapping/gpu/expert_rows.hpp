// How many rows each expert of a mixture gets when tokens choose among them with equal chances.
#pragma once

#include <cstdint>
#include <vector>

namespace foretell {

// `rows` rows over `experts` experts: the numbers of one are binomial, so expert i stands for its
// quantile (i + 1/2) / experts. They sum up to `rows`; the idle ones are left out. Small and large
// ones take turns, as their order says nothing.
std::vector<std::int64_t> expert_rows(std::int64_t rows, std::int64_t experts);

}  // namespace foretell
