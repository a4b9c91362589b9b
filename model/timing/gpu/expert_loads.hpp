// How the tokens of a layer fall on the experts of one GPU.
//
// Tokens wish for experts by a distribution; the router grants them: where a token wishes for one
// expert twice, or where only some groups of experts may answer it, the lowest experts that are
// left fill up its choices, as routers break ties.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/timing/gpu/layer_call.hpp"

namespace foretell {

struct ExpertsShape {
  std::int64_t tokens = 1;  // of all GPUs that share the experts
  std::int64_t hidden = 1;
  std::int64_t intermediate = 1;  // of a whole expert
  std::int64_t top_k = 1;
  std::int64_t experts = 1;  // of all GPUs
  std::int64_t tp = 1;       // GPUs that share the width of an expert
  std::int64_t ep = 1;       // groups of GPUs that share the experts
  // A distribution of tokens over experts: "balanced", or "power_law_1.2" with any exponent above
  // 0, of which the GPU with the largest load counts.
  std::string distribution = "balanced";
  bool gated = true;  // three matrices of an expert, where the kernels are for such
};

// Rows of the experts of the GPU that counts.
struct ExpertLoad {
  std::vector<LayerCall::Groups> groups;  // experts with equal rows together
  double tokens = 0;                      // whose choices the GPU walks
};

// UserError for sizes below 1, top_k above experts, splits that do not divide, a distribution that
// is not known, groups that do not divide the experts or hold too few for top_k.
void check_experts_shape(const ExpertsShape& shape, const TableRouting& routing = {});

// One load of a balanced distribution; five drawn ones of a power law, always the same.
std::vector<ExpertLoad> expert_loads(const ExpertsShape& shape, const TableRouting& routing = {});

}  // namespace foretell
