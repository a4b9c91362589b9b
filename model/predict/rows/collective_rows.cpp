#include "model/predict/rows/collective_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/base/errors.hpp"
#include "model/timing/gpu/network_exchange.hpp"

namespace foretell {

namespace {

const std::string& common_table() { return kernel_libraries().choice().collectives; }

// A chip alone stands for a server of them.
constexpr int kServer = 8;

void check_ranks(const GpuSystemSpec& system, int ranks) {
  const int most = system.devices > 1 ? system.devices : kServer;
  if (ranks <= most) return;
  throw UserError(fmt::format(
      "n_ranks: {} are more than the {} GPUs of {}; name a system that has them: gpu or system",
      ranks, most, system.devices > 1 ? system.id : "a server with " + system.id));
}

// Whose kernel a row calls, and how it divides a sum.
CollectiveKernel custom_kernel(const CollectiveRow& row) {
  return kernel_libraries().custom_collective(row.library, row.version);
}

}  // namespace

std::string collective_table(const CollectiveRow& row) {
  if (row.library.empty() || row.library == common_table()) return common_table();
  return custom_kernel(row).table + (row.mode == "eager" ? " eager" : " graph");
}

ShotRule shot_rule(const CollectiveRow& row) {
  return custom_kernel(row).shots_by_size ? ShotRule::kBySize : ShotRule::kFastest;
}

bool is_custom(const CollectiveRow& row) {
  return !row.library.empty() && row.library != common_table() &&
         row.shape.op == GpuCollective::kAllReduce &&
         row.shape.bytes < kernel_shapes().collectives.own_kernels_below;
}

CollectiveRowPredictor::CollectiveRowPredictor(std::vector<std::string> set,
                                               const RowFactors& factors)
    : devices_(std::move(set)), factors_(devices_.factors("collective", factors)) {}

const CollectiveRowPredictor::Links& CollectiveRowPredictor::links(const GpuDeviceSpec& device,
                                                                   const std::string& table) {
  const std::string key = device.id + (device.changed ? "\nchanged\n" : "\n") + table;
  const auto [place, is_new] = links_.emplace(key, Links{});
  if (!is_new) return place->second;
  const std::string mode = table.substr(std::min(table.size(), table.find(' ')));
  const std::string& usual = kernel_libraries().choice().custom_sums;
  const ChosenFactorSet chosen =
      table == common_table() ? factors_.choose(device, {table})
                              : factors_.choose(device, {table, usual + mode, usual + " graph"});
  place->second.factors = link_factors(chosen.set);
  place->second.low = chosen.set.interval_low;
  place->second.high = chosen.set.interval_high;
  return place->second;
}

void CollectiveRowPredictor::add(std::size_t index, const CollectiveRow& row,
                                 RowPrograms& programs) {
  const GpuSystemSpec& system = devices_.find_system(row.gpu);
  const GpuDeviceSpec& gpu = system.device;
  check_ranks(system, row.shape.ranks);
  const GroupNodes at = nodes_of_group(system, row.shape.ranks, row.shape.stride);
  // Their kernels want NVLink between all GPUs.
  const bool custom = is_custom(row) && at.nodes == 1 && gpu.nvlink.bandwidth > BytesPerSecond(0);
  const Links& used = links(gpu, custom ? collective_table(row) : common_table());
  Grid kernel;
  kernel.launch = used.factors.launch;
  if (custom) {
    const GpuProtocol protocol = custom_time(gpu, used.factors, row.shape, shot_rule(row)).protocol;
    kernel.exchange = custom_exchange(gpu, used.factors, row.shape, protocol);
    const ExchangeTime alone = exchange_time(kernel.exchange);
    kernel.launch = std::max(kernel.launch, used.factors.host - alone.latency - alone.moving);
  } else {
    const auto inside = [&](const GpuCollectiveShape& shape) {
      const GpuProtocol protocol = nccl_time(gpu, used.factors, shape).protocol;
      return nccl_exchange(gpu, used.factors, shape, protocol);
    };
    kernel.exchange =
        at.nodes == 1 ? inside(row.shape) : network_exchange(system.network, at, row.shape, inside);
  }
  programs.add(index, gpu, {{std::move(kernel)}}, used.low, used.high,
               devices_.with_note(row.gpu, ""));
}

std::vector<RowTime> CollectiveRowPredictor::predict(const std::vector<CollectiveRow>& rows) {
  std::vector<RowTime> times(rows.size());
  RowPrograms programs;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    try {
      add(i, rows[i], programs);
    } catch (const UserError& error) {
      times[i].error = error.what();
    }
  }
  programs.simulate(times);
  return times;
}

}  // namespace foretell
