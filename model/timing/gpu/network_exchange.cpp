#include "model/timing/gpu/network_exchange.hpp"

#include <algorithm>

#include "hw/spec/shared/kernel_shapes.hpp"

namespace foretell {
namespace {

// A ring, or messages to all others, between the nodes: of the part that a GPU of each has.
LinkExchange between(const NetworkSpec& network, const GroupNodes& at, GpuCollective op,
                     Bytes bytes) {
  const CollectiveShapes& known = kernel_shapes().collectives;
  LinkExchange exchange =
      plain_exchange(network.bandwidth, known.network_hop_large, {op, at.nodes, bytes});
  LinkExchange small = exchange;
  for (LinkRound& round : small.rounds) {
    round.latency = known.network_hop_small;
    round.links.rate = network.bandwidth * known.network_small_share;
  }
  return exchange_time(small).whole() < exchange_time(exchange).whole() ? small : exchange;
}

}  // namespace

GroupNodes nodes_of_group(const GpuSystemSpec& system, int ranks, int stride) {
  GroupNodes at;
  const int in_node = std::max(1, gpus_of_node(system) / std::max(1, stride));
  at.nodes = std::min(system.nodes, (ranks + in_node - 1) / in_node);
  at.ranks = (ranks + at.nodes - 1) / at.nodes;
  return at;
}

LinkExchange network_exchange(
    const NetworkSpec& network, const GroupNodes& at, const GpuCollectiveShape& shape,
    const std::function<LinkExchange(const GpuCollectiveShape& shape)>& inside) {
  LinkExchange all;
  all.ranks = at.nodes * at.ranks;
  all.network = network.bandwidth;
  const auto add_inside = [&](GpuCollective op, Bytes bytes) {
    if (at.ranks == 1) return;
    LinkExchange part = inside({op, at.ranks, bytes});
    all.peak = part.peak;
    for (LinkRound& round : part.rounds) {
      round.links.block = at.ranks;
      all.rounds.push_back(round);
    }
  };
  const auto add_between = [&](GpuCollective op, Bytes bytes) {
    for (LinkRound round : between(network, at, op, bytes).rounds) {
      round.network = round.links;
      round.network.stride = at.ranks;
      round.links = {};
      all.rounds.push_back(round);
    }
  };
  const Bytes part = shape.bytes / at.ranks;
  switch (shape.op) {
    case GpuCollective::kAllReduce:
      add_inside(GpuCollective::kReduceScatter, shape.bytes);
      add_between(GpuCollective::kAllReduce, part);
      add_inside(GpuCollective::kAllGather, shape.bytes);
      break;
    case GpuCollective::kAllGather:
      add_between(GpuCollective::kAllGather, part);
      add_inside(GpuCollective::kAllGather, shape.bytes);
      break;
    case GpuCollective::kReduceScatter:
      add_inside(GpuCollective::kReduceScatter, shape.bytes);
      add_between(GpuCollective::kReduceScatter, part);
      break;
    case GpuCollective::kAllToAll:
      add_between(GpuCollective::kAllToAll, shape.bytes);
      add_inside(GpuCollective::kAllToAll, shape.bytes / at.nodes);
      break;
    case GpuCollective::kSend:
      add_between(GpuCollective::kSend, shape.bytes);
      break;
  }
  return all;
}

}  // namespace foretell
