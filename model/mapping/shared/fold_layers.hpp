// Which layers of a graph are equal, so that a few of them stand for all.
#pragma once

#include <cstdint>
#include <set>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

// A run of consecutive layers with the same operators, shapes and types.
struct LayerRun {
  std::int32_t first = 0;
  std::int32_t count = 0;
};

// The longest run of equal layers; count 0 when the graph has no layers.
LayerRun longest_equal_run(const Graph& graph);

// Operators of a layer in graph order.
std::vector<OpId> ops_of_layer(const Graph& graph, std::int32_t layer);

}  // namespace foretell
