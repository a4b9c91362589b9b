// A layer of experts on one GPU: rows are permuted to their experts, multiplied with the first
// matrices of each expert (two with a gate), activated, multiplied with the last, and summed up.
// Not the router, not what is exchanged with other GPUs.
//
// The products are grouped: one launch walks the tiles of all experts, each expert's rows filled up
// to whole tiles; weights of experts that no token chose are not read.
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
  // Of tokens over experts: "balanced", or "power_law_1.2" with any exponent above 0, of which the
  // GPU with the largest load counts.
  std::string distribution = "balanced";
};

// UserError for sizes below 1, top_k above experts, splits that do not divide, a distribution that
// is not known.
void check_experts_shape(const ExpertsShape& shape);

// Rows of the experts of the GPU that counts; experts with equal rows together.
using ExpertLoad = std::vector<LayerCall::Groups>;
// One load of a balanced distribution; five drawn ones of a power law, always the same.
std::vector<ExpertLoad> expert_loads(const ExpertsShape& shape);

GridSequence experts_kernels(const LayerCall& call, const ExpertsShape& shape,
                             const ExpertLoad& load);
// Mean over the loads.
Seconds experts_time(const LayerCall& call, const ExpertsShape& shape,
                     const std::vector<ExpertLoad>& loads);

}  // namespace foretell
