// Graph -> Program of one NeuronCore.
#pragma once

#include <set>

#include "hw/spec/neuron/core_shape.hpp"
#include "model/mapping/neuron/scheduling.hpp"
#include "model/program/occupant.hpp"
#include "model/program/program.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

// Maps the layers of the graph that are not in `skipped_layers` (Op::layer); the readers of a
// skipped layer read what the last mapped layer before it has left. Skipping is for the replay of
// equal layers, see fold_layers.hpp. `occupancy`, when given, receives what lies in SBUF.
// Throws UserError for operators and types without a mapping.
Program map_to_neuron_core(const Graph& graph, const PrecisionPolicy& precision,
                           const CoreShape& core, const SchedulingParameters& scheduling,
                           const std::set<std::int32_t>& skipped_layers = {},
                           Occupancy* occupancy = nullptr);

}  // namespace foretell
