// The part of a network whose time depends on the sequences of a step and on what they have read,
// not on its tokens alone: attention, and what stands in its place.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "model/app/serving/steps/layer_kinds.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// Does it belong to that part?
bool mixes_tokens(const Op& op);

// What ranks that divide prompts and caches do for an attention, beside it.
bool is_of_ranks(std::string_view op);

// Layers without such an operator are of no kind.
std::vector<AlikeLayers> attention_kinds(const Graph& graph, std::int64_t layers);

// The graph up to the product with weights that follows the last of these: what is after it changes
// the time of none of them. A graph without such operators as it is.
Graph up_to_attention(const Graph& graph);

}  // namespace foretell
