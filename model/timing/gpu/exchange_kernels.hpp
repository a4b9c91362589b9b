// The exchange of tokens between the GPUs that share experts: dispatch sends every token to the
// GPUs of the experts that it chose, combine brings the results back; beside them what only
// prepares. Messages inside a node take its links, those to other nodes the network, both at the
// same time; SMs that feed the links bound their rate, and a time per row is ahead of them.
#pragma once

#include <cstdint>

#include "model/timing/gpu/layer_call.hpp"

namespace foretell {

struct ExchangeShape {
  std::int64_t gpus = 2;
  std::int64_t gpus_per_node = 8;  // that links connect
  std::int64_t hidden = 1;
  std::int64_t tokens = 1;  // of one GPU
  std::int64_t top_k = 1;
  std::int64_t experts = 1;
  std::int64_t sms = 0;        // that the kernel takes; 0: all
  bool moves_tokens = true;    // else only prepares
  double network_rate = 50e9;  // B/s of one GPU, one direction
};

GridSequence exchange_kernels(const LayerCall& call, const ExchangeShape& shape);

// Expected number of different bins, of `bins` that hold experts evenly, that `choices` different
// experts lie in.
double expected_bins(double bins, double choices, double experts);

}  // namespace foretell
