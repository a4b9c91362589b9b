// Patterns that exporters write out of small operators, put back together.
#pragma once

#include "workloads/import/onnx/onnx_graph.hpp"

namespace foretell {

// Layer norm, RMS norm, GELU (both formulas) and SiLU become one node each; pairs of quantise and
// dequantise disappear, as do dequantised weights, whose products then are those of int8 weights.
// What the simulator's mappings recognise by dataflow stays: attention, and batch norm after a
// convolution.
void fuse_onnx_patterns(OnnxGraph* graph);

// Without the nodes that no output of the graph needs, as every runtime has it; with branches or
// loops all stay.
void drop_unread_nodes(OnnxGraph* graph);

}  // namespace foretell
