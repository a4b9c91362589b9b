// What an operation of a graph does, counted for its energy: arithmetic by type. Bytes are counted
// where they move.
#pragma once

#include "model/base/energy_work.hpp"
#include "model/mapping/shared/fuse.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

// Products count on the matrix unit by the wider of their operands as `precision` multiplies them,
// everything else on lanes; a softmax takes one exponential per element, an attention one per pair
// of query and key.
EnergyWork operation_counts(const Graph& graph, const FusedOp& fused,
                            const PrecisionPolicy& precision);

}  // namespace foretell
