// Memory of a GPU that runs a graph, by what it holds.
#pragma once

#include "model/base/metrics.hpp"
#include "model/mapping/shared/fuse.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// Weights at their stored types, states, inputs and outputs, and the most that activations hold at
// one time. What stays inside a fused operation (the scores of an attention) needs no memory; what
// the driver keeps for itself is not counted.
MemoryUse memory_of_gpu(const Graph& graph, const FusionRules& rules = {});

}  // namespace foretell
