// Collectives between GPUs of several nodes: within each node over its links, and between nodes
// over the network, where the GPUs with one number in their nodes make a ring of their own (as
// NCCL's rings leave a node once through each adapter).
//
//   all_reduce      reduce_scatter in the nodes, all_reduce of each part between them, all_gather
//   all_gather      between nodes, then in the nodes; reduce_scatter the other way round
//   all_to_all      to each GPU of other nodes, and to those of the own node
//   send            one message
//
// Messages over the network take a protocol for small ones or one for large ones, as NCCL's tuning
// model has them (CollectiveShapes: network_*), whichever is faster.
#pragma once

#include <functional>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/program/link_exchange.hpp"
#include "model/timing/gpu/gpu_collective_timing.hpp"

namespace foretell {

// Of a group of `ranks`, each `stride` GPUs after the one before.
struct GroupNodes {
  int nodes = 1;
  int ranks = 1;  // in each of them
};
GroupNodes nodes_of_group(const GpuSystemSpec& system, int ranks, int stride);

// The exchange of a group with `at.nodes` above 1; `inside` makes that of a group within a node.
LinkExchange network_exchange(
    const NetworkSpec& network, const GroupNodes& at, const GpuCollectiveShape& shape,
    const std::function<LinkExchange(const GpuCollectiveShape& shape)>& inside);

}  // namespace foretell
