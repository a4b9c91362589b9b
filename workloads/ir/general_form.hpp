// The operators of today's language models written in general ones: for machines that have no
// kernels of their own for them.
#pragma once

#include "workloads/ir/graph.hpp"
#include "workloads/ir/routing.hpp"

namespace foretell {

// Attention as products, mask and softmax; Route as a softmax (or sigmoid) and a choice; Experts as
// products of rows with the weights of their experts, as many rows of each as the routing says (a
// power law draws them as `law` says). A window of a prompt is left open: what it
// hides is computed (more work, never less). Other operators stay as they are. To be called before
// types are applied.
Graph in_general_operators(const Graph& graph, const PowerLaw& law = {});

}  // namespace foretell
