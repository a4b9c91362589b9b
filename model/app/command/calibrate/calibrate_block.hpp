// `foretell calibrate fit` for whole layers of attention on a GPU: what a library adds to the
// kernels of their operators (calib/fitted/gpu/attention_block_factors.hpp).
#pragma once

#include "model/app/command/calibrate/calibrate_gemm.hpp"

namespace foretell {

// Fits every table of the device ("<framework> <kind> <phase>") whose framework the command names,
// on the part that is for fitting; judges it on the part that is for judging; never reads the
// vault. Writes <output>/gpu/attention_block/<device>.yaml, in which tables that were not fitted
// stay.
int calibrate_block(const GemmFitCommand& command, const Session& session);

}  // namespace foretell
