// Which layers of a network are alike, so that one of each kind has to be executed.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

struct AlikeLayers {
  std::int64_t first = 0;                 // number of the first layer of the kind
  double count = 0;                       // layers of the kind
  std::vector<std::int64_t> layers = {};  // their numbers
};

// By the operators of each layer, their attributes and the shapes and types of what they read and
// write, in the order in which the kinds come. `layers`: of the network; every operator of a layer
// has its number. `counts`: the operators that are compared; null: all.
std::vector<AlikeLayers> layer_kinds(const Graph& graph, std::int64_t layers,
                                     const std::function<bool(OpId)>& counts = nullptr);

}  // namespace foretell
