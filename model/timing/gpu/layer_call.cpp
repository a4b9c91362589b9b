#include "model/timing/gpu/layer_call.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "model/timing/gpu/soft_limits.hpp"

namespace foretell {
namespace {

constexpr double kResultBytes = 2;  // per element

struct TileChoice {
  double blocks = 0;
  double block = 0;  // seconds
  double time = std::numeric_limits<double>::infinity();
};

}  // namespace

LayerCall::LayerCall(const GpuDeviceSpec& device, const LayerKernelFacts& facts,
                     const LayerType& type, const LayerKernelFactors& factors, Bytes between)
    : device_(device),
      facts_(facts),
      type_(type),
      factors_(factors),
      clock_(device.clock.boost.value()),
      sms_(device.sms),
      sm_rate_(factors.mma_efficiency * dense_rate(device, type.rate).value() / device.sms),
      between_(between.value()) {}

double LayerCall::missing(double bytes) const {
  const double capacity = factors_.l2_share * device_.l2.capacity.value();
  return capacity > 0 ? missing_share(factors_.common, bytes / capacity) : 1;
}

void LayerCall::set_memory(Grid& kernel, double dram) const {
  kernel.dram_bytes = Bytes(dram);
  kernel.dram_rate = device_.hbm.bandwidth * factors_.dram_efficiency;
  kernel.overlap = 1 + factors_.overlap;
}

Grid LayerCall::grouped_product(const std::vector<Groups>& groups, double n, double k) const {
  const double depth = facts_.stage_bytes / type_.weight_bytes;  // elements of a stage
  const double stages = std::ceil(k / depth);
  const double store = feed(factors_.sm_feed);
  const double start = seconds(factors_.prologue);
  const double least = seconds(factors_.step);
  double rows = 0;
  double weights = 0;
  for (const Groups& group : groups) {
    rows += group.rows * group.count;
    weights += group.rows > 0 ? group.count * n * k * type_.weight_bytes : 0;
  }
  TileChoice best;
  for (const LayerTile& tile : facts_.tiles) {
    TileChoice choice;
    for (const Groups& group : groups) {
      choice.blocks += std::ceil(group.rows / tile.rows) * group.count;
    }
    const double filled = std::min(tile.rows, rows / std::max(1.0, choice.blocks));
    choice.blocks *= std::ceil(n / tile.columns);
    const double load =
        (filled * type_.activation_bytes + tile.columns * type_.weight_bytes) * depth / store;
    const double products = 2 * tile.rows * tile.columns * depth / sm_rate_;
    choice.block = start + stages * std::max({products, load, least}) +
                   filled * tile.columns * kResultBytes / store;
    choice.time = std::ceil(choice.blocks / sms_) * choice.block;
    if (choice.time < best.time) best = choice;
  }
  Grid kernel;
  kernel.name = "grouped product";
  add_ctas(kernel, static_cast<std::int64_t>(best.blocks), Seconds(best.block));
  set_memory(kernel, missing_since_call(weights) * weights +
                         rows * (k * type_.activation_bytes + n * kResultBytes));
  return kernel;
}

Grid LayerCall::pass(const std::string& name, double bytes, double rows) const {
  Grid kernel;
  kernel.name = name;
  kernel.l2_bytes = Bytes(bytes);
  kernel.l2_rate = BytesPerSecond(feed(factors_.pass_feed) * sms_);
  if (!(factors_.pass_feed > BytesPerCycle(0))) kernel.l2_bytes = Bytes(0);
  kernel.dram_bytes = Bytes(missing(bytes) * bytes);
  kernel.dram_rate = device_.hbm.bandwidth * factors_.dram_efficiency;
  kernel.tail = Seconds(rows * seconds(factors_.row) / sms_);
  return kernel;
}

}  // namespace foretell
