// A layer of experts on one GPU: rows are permuted to their experts, multiplied with the first
// matrices of each expert (two with a gate), activated, multiplied with the last, and summed up.
// Not the router, not what is exchanged with other GPUs.
//
// The products are grouped: one launch walks the tiles of all experts, each expert's rows filled up
// to whole tiles; weights of experts that no token chose are not read.
#pragma once

#include <string>
#include <vector>

#include "model/timing/gpu/energy_work.hpp"
#include "model/timing/gpu/expert_loads.hpp"
#include "model/timing/gpu/layer_call.hpp"

namespace foretell {

// The tile of a shape that is not tuned for this device; null when it is tuned, or the library says
// nothing of others.
const LayerTile* untuned_tile(const LayerKernelFacts& facts, const std::string& device,
                              const ExpertsShape& shape);

// What the layer does on the GPU that counts, the mean over the loads: the only count of experts,
// of rows of tables as of networks.
EnergyWork experts_work(const LayerKernelFacts& facts, const std::string& device,
                        const ExpertsShape& shape, std::vector<ExpertLoad> loads, OperandType type);

GridSequence experts_kernels(const LayerCall& call, const ExpertsShape& shape,
                             const ExpertLoad& load);
// Mean over the loads.
Seconds experts_time(const LayerCall& call, const ExpertsShape& shape,
                     const std::vector<ExpertLoad>& loads);

}  // namespace foretell
