// Which activations of a quantised network are stored in its 8 bits, beside those that products
// read.
//
// TensorRT gives every tensor of a quantised network a scale and runs each layer in 8 bits that
// takes and gives such tensors (its guide "Working with quantized types"): a residual that joins
// convolutions, what is pooled, and in INT8 what goes through layer norm and attention of an
// encoder (its demo of BERT). What comes before the first quantised product, what a normalisation
// of groups, a reduction or a lone softmax touches, and a network with a cache keep their type.
// Libraries of hand-written passes may keep residuals wide: the sum of two activations is then
// stored in its own type, and what a norm makes of it in 8 bits.
#pragma once

#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

// `graph` has the types of `policy`. With FP4, convolutions get the type of activations back: no
// library has kernels for them.
void narrow_activations(const PrecisionPolicy& policy, Graph* graph, bool narrow_residuals = true);

}  // namespace foretell
