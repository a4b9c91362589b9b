#include <algorithm>
#include <cmath>

#include "calib/measure/cuda/cuda_machine.hpp"
#include "calib/measure/cuda/device_op.hpp"

namespace foretell {

int copies_for(const MeasureTask& task, double l2_bytes, double free_bytes) {
  const double bytes = rotating_bytes(task);
  if (task.state("weights") == "warm" || !(bytes > 0)) return 1;
  const double wanted = std::ceil(2 * l2_bytes / bytes) + 1;
  const double room = std::floor(free_bytes / bytes);
  return static_cast<int>(std::max(1.0, std::min({wanted, room, 1.0 * kMaxCopies})));
}

}  // namespace foretell
