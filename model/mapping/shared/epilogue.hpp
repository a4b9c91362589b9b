// What a product or a convolution does to its result before it is written: the one walk along the
// readers of a result, for the fusion of every family of devices. Families differ in the rules.
#pragma once

#include <functional>
#include <set>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

enum class EpiloguePart {
  kNorm,        // of channels, with fixed factors
  kBias,        // a value for each column
  kActivation,  // a function of one argument
  kResidual     // a tensor of the same shape that is there by then
};

struct EpilogueStep {
  std::set<EpiloguePart> parts;
  bool repeats = false;  // else one of them
};

struct EpilogueRules {
  std::vector<EpilogueStep> steps;   // in this order, each may be missing
  bool bias_on_either_side = false;  // of the sum; else the weight is its second input
  bool formulas = false;             // operators Elementwise of one input are activations, too
};

struct EpilogueOp {
  EpiloguePart part = EpiloguePart::kActivation;
  OpId op = kNoId;
  TensorId other = kNoId;  // bias or residual
};

// What follows `result` as far as the rules go: each the only reader of the one before it.
// `is_taken`: belongs to another kernel already; `is_there`: has been computed when `result` is.
std::vector<EpilogueOp> epilogue_of(const Graph& graph, TensorId result, const EpilogueRules& rules,
                                    const std::function<bool(OpId)>& is_taken,
                                    const std::function<bool(TensorId)>& is_there);

}  // namespace foretell
