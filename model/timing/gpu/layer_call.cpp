#include "model/timing/gpu/layer_call.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hw/spec/gpu/gpu_architecture.hpp"
#include "model/timing/gpu/soft_limits.hpp"

namespace foretell {
namespace {

constexpr double kResultBytes = 2;  // per element
constexpr double kWarps = 4;        // of a thread block, one on each matrix pipe of an SM
constexpr double kLeastRows = 16;   // of a warp, which the pipe takes at a time

// How much longer a stage of a tile takes with this share of its rows filled: nothing when it is
// full, all of `unfilled` when it is empty. Half full tiles take three quarters of it.
double missing_rows_cost(double filled) { return 1 - filled * filled; }

}  // namespace

LayerCall::LayerCall(const GpuDeviceSpec& device, const LayerKernelFacts& facts,
                     const LayerType& type, const LayerKernelFactors& factors, Bytes between)
    : device_(device),
      facts_(facts),
      type_(facts.type ? *facts.type : type),
      factors_(factors),
      clock_(device.clock.boost.value()),
      sms_(device.sms),
      sm_rate_(factors.mma_efficiency * dense_rate(device, type_.rate).value() / device.sms),
      between_(between.value()) {
  const GpuArchitecture& chip = gpu_architecture(device.architecture);
  if (chip.asynchronous_products == 0) read_rate_ = chip.shared_port * clock_;
}

// Seconds in which the warps of a block read the operands of a stage from shared memory, each
// those of its part of the tile; in the arrangement of warps that reads least.
double LayerCall::reads(const LayerTile& tile, double depth) const {
  if (!(read_rate_ > 0)) return 0;
  double least = std::numeric_limits<double>::infinity();
  for (double along = 1; along <= kWarps; along *= 2) {  // warps along the rows
    if (along > 1 && tile.rows < along * kLeastRows) break;
    least = std::min(least, tile.rows * kWarps / along * type_.activation_bytes +
                                tile.columns * along * type_.weight_bytes);
  }
  return least * depth / read_rate_;
}

double LayerCall::missing(double bytes) const {
  const double capacity = factors_.l2_share * device_.l2.capacity.value();
  return capacity > 0 ? missing_share(factors_.common, bytes / capacity) : 1;
}

void LayerCall::set_memory(Grid& kernel, double dram) const {
  kernel.dram_bytes = Bytes(dram);
  kernel.dram_rate = device_.hbm.bandwidth * factors_.dram_efficiency;
  kernel.stages_ahead = factors_.stages_ahead;
}

LayerCall::Blocks LayerCall::blocks_of(const std::vector<Groups>& groups, double n, double k,
                                       const LayerTile& tile) const {
  const double stage = tile.stage_bytes > 0 ? tile.stage_bytes : facts_.stage_bytes;
  const double depth = stage / type_.weight_bytes;  // elements
  const double stages = std::ceil(k / depth);
  const double store = feed(factors_.sm_feed);
  double rows = 0;
  double high = 0;     // blocks for the rows
  double missing = 0;  // of all blocks, as cost
  for (const Groups& group : groups) {
    const double full = std::floor(group.rows / tile.rows);
    const double last = group.rows / tile.rows - full;
    high += std::ceil(group.rows / tile.rows) * group.count;
    if (last > 0) missing += missing_rows_cost(last) * group.count;
    rows += group.rows * group.count;
  }
  const double filled = std::min(tile.rows, rows / std::max(1.0, high));
  const double load =
      (filled * type_.activation_bytes + tile.columns * type_.weight_bytes) * depth / store;
  const double products = 2 * tile.rows * tile.columns * depth / sm_rate_ + reads(tile, depth);
  const double waits = seconds(factors_.unfilled) * missing / std::max(1.0, high);
  const double each = std::max({products, load, seconds(factors_.step)}) + waits;
  const double result = filled * tile.columns * kResultBytes / store;
  const double alone = seconds(factors_.prologue) + stages * each + result;
  // Thread blocks that share an SM hide each other's waiting, but neither pipe nor loads.
  const double busy = stages * std::max(products, load) + result;
  Blocks blocks;
  blocks.count = high * std::ceil(n / tile.columns);
  blocks.time = Seconds(std::max(busy, alone / tile.resident));
  return blocks;
}

LayerTile LayerCall::fastest_tile(const std::vector<Groups>& groups, double n, double k) const {
  LayerTile fastest;
  double least = std::numeric_limits<double>::infinity();
  for (const LayerTile& tile : facts_.tiles) {
    const Blocks blocks = blocks_of(groups, n, k, tile);
    const double time = std::ceil(blocks.count / sms_) * blocks.time.value();
    if (time < least) {
      least = time;
      fastest = tile;
    }
  }
  return fastest;
}

Grid LayerCall::grouped_product(const std::vector<Groups>& groups, double n, double k,
                                const LayerTile& tile, const std::vector<Groups>& elsewhere) const {
  double rows = 0;
  double weights = 0;
  for (const Groups& group : groups) {
    rows += group.rows * group.count;
    weights += group.count * n * k * type_.weight_bytes;
  }
  const Blocks blocks = blocks_of(groups, n, k, tile);
  Grid kernel;
  kernel.name = "grouped product";
  add_ctas(kernel, static_cast<std::int64_t>(blocks.count), blocks.time);
  double ending = 0;
  for (const Groups& group : elsewhere) {
    ending += std::ceil(group.rows / tile.rows) * group.count * std::ceil(n / tile.columns);
  }
  if (ending > 0) {
    add_ctas(kernel, static_cast<std::int64_t>(ending), Seconds(seconds(factors_.prologue)));
  }
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
