// The sum that publishers of networks state.
#pragma once

#include "workloads/ir/work.hpp"

namespace foretell {

inline double total_macs(const Graph& graph) {
  double sum = 0;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) sum += macs_of(graph, id);
  return sum;
}

}  // namespace foretell
