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
  kernel.stages_ahead = factors_.stages_ahead;
}

Grid LayerCall::grouped_product(const std::vector<Groups>& groups, double n, double k,
                                const std::vector<Groups>& chosen_for,
                                const std::vector<Groups>& elsewhere) const {
  const double depth = facts_.stage_bytes / type_.weight_bytes;  // elements of a stage
  const double stages = std::ceil(k / depth);
  const double store = feed(factors_.sm_feed);
  const double start = seconds(factors_.prologue);
  const double least = seconds(factors_.step);
  const auto weight_bytes = [&](const std::vector<Groups>& of) {
    double bytes = 0;
    for (const Groups& group : of) bytes += group.count * n * k * type_.weight_bytes;
    return bytes;
  };
  double rows = 0;
  for (const Groups& group : groups) rows += group.rows * group.count;
  const double weights = weight_bytes(groups);
  const auto with_tile = [&](const LayerTile& tile, const std::vector<Groups>& of) {
    TileChoice choice;
    double all = 0;
    for (const Groups& group : of) {
      choice.blocks += std::ceil(group.rows / tile.rows) * group.count;
      all += group.rows * group.count;
    }
    const double filled = std::min(tile.rows, all / std::max(1.0, choice.blocks));
    choice.blocks *= std::ceil(n / tile.columns);
    const double load =
        (filled * type_.activation_bytes + tile.columns * type_.weight_bytes) * depth / store;
    const double products = 2 * tile.rows * tile.columns * depth / sm_rate_;
    choice.block = start + stages * std::max({products, load, least}) +
                   filled * tile.columns * kResultBytes / store;
    choice.time = std::ceil(choice.blocks / sms_) * choice.block;
    return choice;
  };
  const auto is_wide_enough = [&](const LayerTile& tile) {
    return 2 * tile.rows >= chosen_for.front().rows;
  };
  const LayerTile* tile = nullptr;
  double least_time = std::numeric_limits<double>::infinity();
  for (const LayerTile& tried : facts_.tiles) {
    if (facts_.untuned_tiles) {
      // Half of the largest is the most that is taken: the largest itself is never the smallest
      // of its neighbours.
      const bool is_last = &tried == &facts_.tiles.back() - 1;
      tile = &tried;
      if (is_last || is_wide_enough(tried)) break;
      continue;
    }
    const double time = with_tile(tried, chosen_for).time;
    if (time < least_time) {
      least_time = time;
      tile = &tried;
    }
  }
  const TileChoice best = tile == nullptr ? TileChoice{} : with_tile(*tile, groups);
  Grid kernel;
  kernel.name = "grouped product";
  add_ctas(kernel, static_cast<std::int64_t>(best.blocks), Seconds(best.block));
  double ending = 0;
  for (const Groups& group : elsewhere) {
    ending += std::ceil(group.rows / tile->rows) * group.count * std::ceil(n / tile->columns);
  }
  if (ending > 0) add_ctas(kernel, static_cast<std::int64_t>(ending), Seconds(start));
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
