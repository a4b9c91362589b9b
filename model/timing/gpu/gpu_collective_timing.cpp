#include "model/timing/gpu/gpu_collective_timing.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/base/errors.hpp"
#include "model/base/looked_up.hpp"

namespace foretell {
namespace {

BytesPerSecond peak_of_links(const GpuDeviceSpec& device) {
  const bool has_nvlink = device.nvlink.bandwidth > BytesPerSecond(0);
  return has_nvlink ? device.nvlink.bandwidth : device.pcie.bandwidth;
}

BytesPerSecond link_rate(const GpuDeviceSpec& device, const LinkFactors& factors) {
  return peak_of_links(device) * factors.link_efficiency;
}

// What the kernel moves through the GPU beside the links. A send has its operand in place.
Bytes local_bytes(const GpuCollectiveShape& shape) {
  return shape.op == GpuCollective::kSend ? Bytes(0) : shape.bytes;
}

Seconds peers_delay(const LinkFactors& factors, const GpuCollectiveShape& shape) {
  return shape.op == GpuCollective::kAllToAll ? factors.peer * (shape.ranks - 1.0) : Seconds(0);
}

// Where the switch sums, the traffic of a link as a share of that of a ring.
double traffic_in_switch(const LinkFactors& factors, const GpuCollectiveShape& shape) {
  const bool sums = shape.op == GpuCollective::kAllReduce &&
                    shape.ranks == kernel_shapes().collectives.switch_ranks;
  return sums && factors.switch_reduce > 0 ? factors.switch_reduce : 1;
}

// `all` as the first of its repetitions, with `start` ahead of it, and the others.
void add_rounds(LinkExchange& exchange, const LinkRound& all, Seconds start) {
  LinkRound first = all;
  first.times = 1;
  first.latency += start;
  exchange.rounds.push_back(first);
  if (all.times == 1) return;
  exchange.rounds.push_back(all);
  --exchange.rounds.back().times;
}

bool is_large(const GpuCollectiveShape& shape) {
  const CollectiveShapes& sizes = kernel_shapes().collectives;
  return shape.bytes >=
         (shape.ranks <= sizes.few_ranks ? sizes.two_phases_of_few : sizes.two_phases_of_many);
}

// The host launches the next kernel while this one runs.
GpuCollectiveTime launched(GpuCollectiveTime time, const LinkFactors& factors) {
  time.time = std::max(time.time, factors.host);
  return time;
}

// Messages between two GPUs know two protocols, by their size.
bool goes_by_size(const LinkFactors& factors, GpuCollective op) {
  return factors.start_message > Seconds(0) &&
         (op == GpuCollective::kAllToAll || op == GpuCollective::kSend);
}

Seconds start_of_simple(const LinkFactors& factors, GpuCollective op) {
  return goes_by_size(factors, op) ? factors.start_message : factors.start_simple;
}

Bytes message_of(const GpuCollectiveShape& shape) {
  return shape.op == GpuCollective::kAllToAll ? shape.bytes / shape.ranks : shape.bytes;
}

GpuCollectiveTime faster(const GpuCollectiveTime& a, const GpuCollectiveTime& b) {
  return b.time < a.time ? b : a;
}

}  // namespace

GpuCollective gpu_collective(const std::string& name) {
  static const std::map<std::string, GpuCollective> kNames = {
      {"all_reduce", GpuCollective::kAllReduce},         {"all_gather", GpuCollective::kAllGather},
      {"reduce_scatter", GpuCollective::kReduceScatter}, {"alltoall", GpuCollective::kAllToAll},
      {"all_to_all", GpuCollective::kAllToAll},          {"send", GpuCollective::kSend}};
  return looked_up(kNames, "collective", name);
}

std::string to_string(GpuProtocol protocol) {
  constexpr std::array<const char*, 5> kNames = {"LL", "LL128", "Simple", "one-shot", "two-shot"};
  return kNames.at(static_cast<std::size_t>(protocol));
}

RingSteps ring_steps(const GpuCollectiveShape& shape) {
  const double ranks = shape.ranks;
  switch (shape.op) {
    case GpuCollective::kAllReduce:
      return {2 * (ranks - 1), 2 * (ranks - 1) / ranks};
    case GpuCollective::kAllGather:
    case GpuCollective::kReduceScatter:
      return {ranks - 1, (ranks - 1) / ranks};
    case GpuCollective::kAllToAll:
      return {1, (ranks - 1) / ranks};
    case GpuCollective::kSend:
      return {1, 1};
  }
  throw InternalError(__FILE__, __LINE__, "a collective without a ring");
}

GpuCollectiveTime nccl_time(const GpuDeviceSpec& device, const LinkFactors& factors,
                            const GpuCollectiveShape& shape) {
  const BytesPerSecond link = link_rate(device, factors);
  const auto [steps, moved] = ring_steps(shape);
  const Seconds local = local_bytes(shape) / factors.local_rate;
  const Seconds wire = shape.bytes * moved / link;
  const Seconds launch = factors.launch + peers_delay(factors, shape);
  const GpuCollectiveTime ll{GpuProtocol::kLl,
                             launch + factors.hop_ll * steps + (wire + local) * factors.cost_ll};
  const GpuCollectiveTime ll128{GpuProtocol::kLl128, launch + factors.hop_ll128 * steps +
                                                         (wire + local) * factors.cost_ll128};
  const GpuCollectiveTime simple{GpuProtocol::kSimple,
                                 launch + start_of_simple(factors, shape.op) +
                                     factors.hop_simple * steps + local +
                                     wire * traffic_in_switch(factors, shape)};
  if (goes_by_size(factors, shape.op))
    return message_of(shape) > kernel_shapes().collectives.small_message ? simple : ll;
  return faster(faster(ll, ll128), simple);
}

GpuCollectiveTime custom_time(const GpuDeviceSpec& device, const LinkFactors& factors,
                              const GpuCollectiveShape& shape, ShotRule rule) {
  const BytesPerSecond link = link_rate(device, factors);
  const double peers = shape.ranks - 1;
  const Seconds start = factors.launch + factors.barrier * peers + shape.bytes / factors.local_rate;
  const GpuCollectiveTime one{GpuProtocol::kOneShot, start + shape.bytes * peers / link};
  const GpuCollectiveTime two{
      GpuProtocol::kTwoShot,
      start + factors.two_shot + shape.bytes * (2 * peers / shape.ranks) / link};
  if (shape.ranks == 2) return launched(one, factors);
  if (rule == ShotRule::kFastest) return launched(faster(one, two), factors);
  return launched(is_large(shape) ? two : one, factors);
}

LinkExchange nccl_exchange(const GpuDeviceSpec& device, const LinkFactors& factors,
                           const GpuCollectiveShape& shape, GpuProtocol protocol) {
  LinkExchange exchange = plain_exchange(peak_of_links(device), Seconds(0), shape);
  LinkRound round = exchange.rounds.front();
  exchange.rounds.clear();
  double cost = 1;
  Seconds start = peers_delay(factors, shape);
  if (protocol == GpuProtocol::kLl) {
    round.latency = factors.hop_ll;
    cost = factors.cost_ll;
  } else if (protocol == GpuProtocol::kLl128) {
    round.latency = factors.hop_ll128;
    cost = factors.cost_ll128;
  } else {
    round.latency = factors.hop_simple;
    start += start_of_simple(factors, shape.op);
    round.links.each *= traffic_in_switch(factors, shape);
  }
  round.links.rate = link_rate(device, factors) / cost;
  round.local = local_bytes(shape) / round.times;
  round.local_rate = factors.local_rate / cost;
  add_rounds(exchange, round, start);
  return exchange;
}

LinkExchange custom_exchange(const GpuDeviceSpec& device, const LinkFactors& factors,
                             const GpuCollectiveShape& shape, GpuProtocol protocol) {
  LinkExchange exchange{shape.ranks, peak_of_links(device), {}, {}};
  LinkRound round;
  round.latency = factors.barrier * (shape.ranks - 1.0);
  round.local = shape.bytes;
  round.local_rate = factors.local_rate;
  round.links = {shape.ranks - 1, shape.bytes, link_rate(device, factors)};
  if (protocol == GpuProtocol::kTwoShot) round.links.each *= 1.0 / shape.ranks;
  exchange.rounds.push_back(round);
  if (protocol != GpuProtocol::kTwoShot) return exchange;
  round.latency = factors.two_shot;
  round.local = Bytes(0);
  exchange.rounds.push_back(round);
  return exchange;
}

LinkExchange plain_exchange(BytesPerSecond peak, Seconds hop, const GpuCollectiveShape& shape) {
  const auto [steps, moved] = ring_steps(shape);
  LinkRound round;
  round.times = static_cast<int>(steps);
  round.latency = hop;
  const int peers = shape.op == GpuCollective::kAllToAll ? shape.ranks - 1 : 1;
  round.links = {peers, shape.bytes * (moved / (steps * peers)), peak};
  return {shape.ranks, peak, {round}, {}};
}

ExchangeTime exchange_time(const LinkExchange& exchange) {
  ExchangeTime time;
  for (const LinkRound& round : exchange.rounds) {
    time.latency += round.latency * round.times;
    time.moving += std::max(round.links.time(), round.network.time()) * round.times;
    if (round.local > Bytes(0)) time.moving += round.local * round.times / round.local_rate;
  }
  return time;
}

}  // namespace foretell
