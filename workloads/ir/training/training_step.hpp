// One step of training: from the graph of a forward pass to the graph that also has the backward
// pass, the sum of the gradients over copies, and the update of the weights.
//
// Every weight of floating point is trained. Gradients of activations have the type of the
// activation, those of weights the type of the weight. What the backward pass reads of the forward
// pass stays in memory; nothing is computed twice. Weights narrower than FP32 have an FP32 copy
// that the optimiser works on (mixed precision, Micikevicius et al. 2018), and its state is FP32.
//
// The backward operators of layer l form layer 2 n - 1 - l of n, so that equal layers stay a run of
// equal layers. Gradients of a layer's weights are summed over the copies, and the weights updated,
// as soon as the backward pass of the layer has ended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "workloads/ir/graph.hpp"

namespace foretell {

enum class Optimizer { kSgd, kMomentum, kAdam };

std::string_view to_string(Optimizer optimizer);
Optimizer parse_optimizer(std::string_view name);  // UserError names the nearest

struct TrainingStep {
  Graph graph;
  OpId first_backward = kNoId;
  std::int64_t parameters = 0;  // that are trained
  Flops forward{};
  Flops backward{};
  Flops update{};
  Bytes weights{};
  Bytes gradients{};
  Bytes optimizer_state{};    // with the FP32 copy of narrower weights
  Bytes saved_activations{};  // that the backward pass reads
  Bytes most_activations{};   // alive at one time, without the gradients of weights
  Bytes all_reduce{};         // gradients that the copies sum; none with one copy
};

// `forward` has its types already. UserError for an operator without a derivative (by name), for
// weights of a type that is not trained (integers, FP8), and for a graph without weights.
TrainingStep derive_training_step(const Graph& forward, Optimizer optimizer, int copies);

}  // namespace foretell
