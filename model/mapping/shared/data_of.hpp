// Where the data of a tensor are.
#pragma once

#include "workloads/ir/graph.hpp"

namespace foretell {

// The tensor that holds the data of `id`: layout operators and updates of a cache looked through.
TensorId data_of(const Graph& graph, TensorId id);

}  // namespace foretell
