// How far predicted matrix products are from measured ones, by their number of rows: what bounds
// them differs.
#pragma once

#include <string>
#include <vector>

#include "calib/fit/gemm_fit.hpp"
#include "calib/validate/statistics.hpp"

namespace foretell {

// Of the products with more than `above` rows, up to `up_to`.
std::vector<Comparison> compare_products(const GemmTiming& timing,
                                         const std::vector<GemmSample>& samples, std::int64_t above,
                                         std::int64_t up_to);

// "NAME: 120 rows, MAPE 4.10 %, median 2.79 %, p90 9.64 %, bias -2.03 %". At least one comparison.
std::string accuracy_line(const std::string& name, const std::vector<Comparison>& comparisons);

// A line for every class that has rows, on both sides of the split.
std::vector<std::string> gemm_residuals(const GemmTiming& timing,
                                        const std::vector<GemmSample>& fitted,
                                        const std::vector<GemmSample>& held_out);

}  // namespace foretell
