// `foretell calibrate fit` for attention on a GPU.
#pragma once

#include "model/app/command/calibrate/calibrate_gemm.hpp"

namespace foretell {

// Fits every table (framework, phase, types) of the device whose name begins as the command's
// framework says, judges it on the head configurations held out, and writes
// <output>/gpu/attention/<device>.yaml, in which tables that were not fitted stay.
int calibrate_attention(const GemmFitCommand& command, const Session& session);

}  // namespace foretell
