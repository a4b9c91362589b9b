// Where a question to GPUs stands among published ones that were judged.
#pragma once

#include <cstdint>

#include "calib/validate/next_group.hpp"
#include "model/app/request/resolve/gpu_request.hpp"

namespace foretell {

// Tokens of a call (of the prompts, where it generates), layers, GPUs that share a copy, and bits
// of an operand of its products. A count that is not known is taken for 1.
Place place_on_gpus(std::int64_t tokens, std::int64_t layers, int tp, DType products);

// Images count patches, and stages their blocks, as of interval_place().
Place place_on_gpus(const GpuRequest& resolved);

}  // namespace foretell
