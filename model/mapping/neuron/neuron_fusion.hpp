// What a NeuronCore runs as one piece, and what of a graph is an image there, as data:
// hw/kernels/neuron/fusion.yaml, read once.
#pragma once

#include "model/mapping/shared/fusion_table.hpp"

namespace foretell {

// Kernels are in the order of KernelKind (kernel.hpp). UserError with file:line for what is wrong
// in the file.
const FusionTable& neuron_fusion();

}  // namespace foretell
