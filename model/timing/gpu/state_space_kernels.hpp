// State-space layers (gated delta net, Mamba-2) on one GPU: the short convolution over time, the
// scan of a prompt in chunks, and the update of the state by one token.
//
// A scan does what lies inside chunks for all of them at once, on the matrix pipe; what goes from
// chunk to chunk is a chain, one per sequence and head.
#pragma once

#include <cstdint>
#include <string>

#include "model/timing/gpu/layer_call.hpp"

namespace foretell {

enum class StateSpacePart { kConvolution, kConvolutionUpdate, kScan, kStateUpdate };

struct StateSpaceShape {
  StateSpacePart part = StateSpacePart::kConvolution;
  std::int64_t batch = 1;      // sequences
  std::int64_t seq_len = 1;    // new tokens of each
  std::int64_t channels = 1;   // of the convolution
  std::int64_t values = 0;     // … of these, of values
  std::int64_t width = 4;      // of the convolution, tokens
  std::int64_t heads = 1;      // of values
  std::int64_t head_dim = 1;   // of a value
  std::int64_t state_dim = 1;  // values of a state for each of a head: key width, or d_state
  std::int64_t chunk = 64;     // tokens
};

GridSequence state_space_kernels(const LayerCall& call, const StateSpaceShape& shape);

}  // namespace foretell
