// Two-batch overlap: the two halves of a batch take turns, so that one computes while the other
// exchanges (SGLang's two-batch overlap, vLLM's dual-batch overlap).
#pragma once

#include <string_view>

#include "workloads/ir/graph.hpp"

namespace foretell {

// Begins the name of every operator of the second half.
inline constexpr std::string_view kSecondHalf = "second_half.";

// Both graphs in one: operators of the first up to the first collective, and those that follow it
// at once, then as many of the second, and so on. Weights of one name are one; everything else is
// each half's own. The order is that in which one stream computes; what waits for what follows from
// the tensors.
Graph in_turns(const Graph& first, const Graph& second);

bool is_in_turns(const Graph& graph);

// Is it an operator that sends to other ranks or receives from them? The operator table says how
// many `ranks` such an operator is among.
bool is_collective(std::string_view kind);

}  // namespace foretell
