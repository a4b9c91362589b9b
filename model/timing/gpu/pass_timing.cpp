#include "model/timing/gpu/pass_timing.hpp"

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"
#include "model/timing/gpu/soft_limits.hpp"

namespace foretell {
namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

Grid pass_kernel(const GpuDeviceSpec& device, const PassFactors& factors, const PassShape& shape) {
  FORETELL_CHECK(shape.rows > 0 && shape.columns > 0, "a pass over nothing");
  const double clock = device.clock.boost.value();
  const double elements = static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
  const std::int64_t per_round = shape.threads * shape.vector;
  std::int64_t blocks = 0;
  double rounds = 1;
  if (shape.rows_per_block > 0) {
    blocks = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(shape.rows) / shape.rows_per_block));
    const double row_threads = static_cast<double>(per_round) / shape.rows_per_block;
    rounds = std::ceil(static_cast<double>(shape.columns) / row_threads);
  } else {
    blocks = ceil_div(shape.rows * shape.columns, per_round);
  }
  Grid kernel;
  kernel.launch = factors.launch;
  kernel.ctas_per_sm = static_cast<int>(
      std::clamp<std::int64_t>(device.sm.max_threads / shape.threads, 1, device.sm.max_ctas));
  add_ctas(kernel, blocks,
           Seconds((factors.block.value() + (rounds - 1) * factors.step.value()) / clock));
  const double again = elements * shape.again_bytes * factors.passes;
  const double all = elements * (shape.read_bytes + shape.write_bytes) * factors.passes;
  const double at_a_time = std::min<double>(static_cast<double>(blocks),
                                            static_cast<double>(device.sms) * kernel.ctas_per_sm) /
                           static_cast<double>(blocks);
  const double capacity = device.l2.capacity.value() * factors.l2_share;
  const double missing = shape.rotated ? 1 : missing_share(factors.common, all / capacity);
  const double results = shape.overwrites ? 0 : elements * shape.write_bytes * factors.passes;
  kernel.dram_bytes = Bytes(results + missing * (all - results) +
                            again * missing_share(factors.common, again * at_a_time / capacity));
  kernel.dram_rate = device.hbm.bandwidth * factors.dram_efficiency;
  kernel.l2_bytes = Bytes(all + again);
  kernel.l2_rate = BytesPerSecond(factors.l2_feed.value() * clock * device.sms);
  kernel.stages_ahead = factors.stages_ahead;
  return kernel;
}

}  // namespace foretell
