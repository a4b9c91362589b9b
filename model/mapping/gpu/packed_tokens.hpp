// Encoders without their padding: libraries gather the tokens of a batch of sequences of several
// lengths one after another, so that products, norms and element-wise passes see these alone. Heads
// have an axis for each sequence, so attention works on padded ones.
#pragma once

#include "workloads/ir/graph.hpp"

namespace foretell {

// `padding`: the share of the tokens that are left out, from 0 to below 1. Activations [sequences,
// tokens, columns] of a graph whose input is [sequences, tokens] become as much shorter; those with
// an axis of heads, and of single tokens, stay.
void pack_tokens(double padding, Graph* graph);

}  // namespace foretell
