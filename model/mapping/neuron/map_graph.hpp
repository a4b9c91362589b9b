// Graph -> Program of one NeuronCore.
#pragma once

#include "hw/spec/neuron/core_shape.hpp"
#include "model/mapping/neuron/scheduling.hpp"
#include "model/mapping/shared/fold_layers.hpp"
#include "model/program/occupant.hpp"
#include "model/program/program.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

// Maps the layers of the graph (Op::layer) that none stands for; the readers of a layer in
// `stand_ins` read what the one has left that stands for it. This is for the replay of equal
// layers, see fold_layers.hpp. `occupancy`, when given, receives what lies in SBUF.
// Throws UserError for operators and types without a mapping.
Program map_to_neuron_core(const Graph& graph, const PrecisionPolicy& precision,
                           const CoreShape& core, const SchedulingParameters& scheduling,
                           const LayerStandIns& stand_ins = {}, Occupancy* occupancy = nullptr);

}  // namespace foretell
