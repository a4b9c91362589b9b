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

// What the kernel moves through the GPU beside the links. A send has its operand in place.
Bytes local_bytes(const GpuCollectiveShape& shape) {
  return shape.op == GpuCollective::kSend ? Bytes(0) : shape.bytes;
}

Seconds peers_delay(const LinkFactors& factors, const GpuCollectiveShape& shape) {
  return shape.op == GpuCollective::kAllToAll ? factors.peer * (shape.ranks - 1.0) : Seconds(0);
}

// Where the switch sums, the traffic of a link as a share of that of a ring.
double traffic_in_switch(const LinkFactors& factors, const GpuCollectiveShape& shape) {
  const bool sums = shape.op == GpuCollective::kAllReduce && shape.ranks == kSwitchRanks;
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

GpuCollectiveTime faster(const GpuCollectiveTime& a, const GpuCollectiveTime& b) {
  return b.time < a.time ? b : a;
}

}  // namespace

GpuCollective gpu_collective(const std::string& name) {
  static const std::map<std::string, GpuCollective> kNames = {
      {"all_reduce", GpuCollective::kAllReduce},         {"all_gather", GpuCollective::kAllGather},
      {"reduce_scatter", GpuCollective::kReduceScatter}, {"alltoall", GpuCollective::kAllToAll},
      {"all_to_all", GpuCollective::kAllToAll},          {"send", GpuCollective::kSend}};
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
  GpuCollectiveTime best{GpuProtocol::kLl,
                         launch + factors.hop_ll * steps + (wire + local) * factors.cost_ll};
  best = faster(best, {GpuProtocol::kLl128,
                       launch + factors.hop_ll128 * steps + (wire + local) * factors.cost_ll128});
  return faster(best,
                {GpuProtocol::kSimple, launch + factors.start_simple + factors.hop_simple * steps +
                                           local + wire * traffic_in_switch(factors, shape)});
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

LinkExchange nccl_exchange(const GpuDeviceSpec& device, const LinkFactors& factors,
                           const GpuCollectiveShape& shape, GpuProtocol protocol) {
  LinkExchange exchange = plain_exchange(device.nvlink.bandwidth, Seconds(0), shape);
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
    start += factors.start_simple;
    round.message *= traffic_in_switch(factors, shape);
  }
  round.link_rate = link_rate(device, factors) / cost;
  round.local = local_bytes(shape) / round.times;
  round.local_rate = factors.local_rate / cost;
  add_rounds(exchange, round, start);
  return exchange;
}

LinkExchange custom_exchange(const GpuDeviceSpec& device, const LinkFactors& factors,
                             const GpuCollectiveShape& shape, GpuProtocol protocol) {
  LinkExchange exchange{shape.ranks, device.nvlink.bandwidth, {}};
  LinkRound round;
  round.latency = factors.barrier * (shape.ranks - 1.0);
  round.local = shape.bytes;
  round.local_rate = factors.local_rate;
  round.peers = shape.ranks - 1;
  round.message = shape.bytes;
  round.link_rate = link_rate(device, factors);
  if (protocol == GpuProtocol::kTwoShot) round.message *= 1.0 / shape.ranks;
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
  round.peers = shape.op == GpuCollective::kAllToAll ? shape.ranks - 1 : 1;
  round.message = shape.bytes * (moved / (steps * round.peers));
  round.link_rate = peak;
  return {shape.ranks, peak, {round}};
}

ExchangeTime exchange_time(const LinkExchange& exchange) {
  ExchangeTime time;
  for (const LinkRound& round : exchange.rounds) {
    time.latency += round.latency * round.times;
    time.moving += round.message * round.peers * round.times / round.link_rate;
    if (round.local > Bytes(0)) time.moving += round.local * round.times / round.local_rate;
  }
  return time;
}

}  // namespace foretell
