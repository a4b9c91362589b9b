// `foretell calibrate fit` for collectives between the GPUs of a node.
#pragma once

#include <cstdint>

#include "model/app/command/calibrate/calibrate_gemm.hpp"
#include "model/timing/gpu/gpu_collective_timing.hpp"

namespace foretell {

// Fits the newest version of every library of the device, judges it on the held-out rows, and
// writes <output>/gpu/collective/<device>.yaml, in which tables that were not fitted stay.
int calibrate_collective(const GemmFitCommand& command, const Session& session);

}  // namespace foretell
