#include "model/testing/toy_npu/timing/toy_timing.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {

Seconds toy_array_time(const ToyArraySpec& array, std::uint64_t columns) {
  return Seconds(static_cast<double>(columns) / array.clock.value());
}

std::uint64_t toy_columns(const ToyArraySpec& array, Flops flops) {
  const double per_column = 2.0 * array.rows * array.columns;
  return static_cast<std::uint64_t>(std::max(1.0, std::ceil(flops.value() / per_column)));
}

}  // namespace foretell
