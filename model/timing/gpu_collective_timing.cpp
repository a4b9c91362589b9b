#include "model/timing/gpu_collective_timing.hpp"

#include <array>
#include <map>
#include <vector>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr int kSwitchRanks = 8;  // the switch sums for a whole node

BytesPerSecond link_rate(const GpuDeviceSpec& device, const LinkFactors& factors) {
  if (!(device.nvlink.bandwidth > BytesPerSecond(0))) {
    throw UserError(device.name + " has no NVLink; collectives over PCIe are not modelled");
  }
  return device.nvlink.bandwidth * factors.link_efficiency;
}

GpuCollectiveTime faster(const GpuCollectiveTime& a, const GpuCollectiveTime& b) {
  return b.time < a.time ? b : a;
}

}  // namespace

GpuCollective gpu_collective(const std::string& name) {
  static const std::map<std::string, GpuCollective> kNames = {
      {"all_reduce", GpuCollective::kAllReduce},
      {"all_gather", GpuCollective::kAllGather},
      {"reduce_scatter", GpuCollective::kReduceScatter},
      {"alltoall", GpuCollective::kAllToAll},
      {"all_to_all", GpuCollective::kAllToAll}};
  const auto found = kNames.find(name);
  if (found != kNames.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [text, op] : kNames) known.push_back(text);
  throw unknown_name("collective", name, known);
}

std::string to_string(GpuProtocol protocol) {
  constexpr std::array<const char*, 5> kNames = {"LL", "LL128", "Simple", "one-shot", "two-shot"};
  return kNames.at(static_cast<std::size_t>(protocol));
}

GpuCollectiveTime nccl_time(const GpuDeviceSpec& device, const LinkFactors& factors,
                            const GpuCollectiveShape& shape) {
  const BytesPerSecond link = link_rate(device, factors);
  const double ranks = shape.ranks;
  const bool reduce = shape.op == GpuCollective::kAllReduce;
  const bool direct = shape.op == GpuCollective::kAllToAll;
  const double steps = direct ? 1 : (reduce ? 2 : 1) * (ranks - 1);
  const double moved = (reduce ? 2 : 1) * (ranks - 1) / ranks;
  const Seconds local = shape.bytes / factors.local_rate;
  const Seconds wire = shape.bytes * moved / link;
  const Seconds launch = factors.launch + (direct ? factors.peer * (ranks - 1) : Seconds(0));
  GpuCollectiveTime best{GpuProtocol::kLl,
                         launch + factors.hop_ll * steps + (wire + local) * factors.cost_ll};
  best = faster(best, {GpuProtocol::kLl128,
                       launch + factors.hop_ll128 * steps + (wire + local) * factors.cost_ll128});
  const bool in_switch = reduce && shape.ranks == kSwitchRanks && factors.switch_reduce > 0;
  return faster(best,
                {GpuProtocol::kSimple, launch + factors.start_simple + factors.hop_simple * steps +
                                           local + wire * (in_switch ? factors.switch_reduce : 1)});
}

GpuCollectiveTime custom_time(const GpuDeviceSpec& device, const LinkFactors& factors,
                              const GpuCollectiveShape& shape) {
  const BytesPerSecond link = link_rate(device, factors);
  const double peers = shape.ranks - 1;
  const Seconds start = factors.launch + factors.barrier * peers + shape.bytes / factors.local_rate;
  const GpuCollectiveTime one{GpuProtocol::kOneShot, start + shape.bytes * peers / link};
  const GpuCollectiveTime two{
      GpuProtocol::kTwoShot,
      start + factors.two_shot + shape.bytes * (2 * peers / shape.ranks) / link};
  return shape.ranks == 2 ? one : faster(one, two);
}

}  // namespace foretell
