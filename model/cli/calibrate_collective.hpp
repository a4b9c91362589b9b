// `foretell calibrate fit` for collectives between the GPUs of a node.
#pragma once

#include <cstdint>

#include "model/cli/calibrate_gemm.hpp"

namespace foretell {

// No factor is fitted to a row of an operation on so many GPUs, on any device.
bool is_held_out_collective(std::int64_t ranks);

// Fits the newest version of every library of the device, judges it on the held-out rows, and
// writes <output>/gpu/collective/<device>.yaml, in which tables that were not fitted stay.
int calibrate_collective(const GemmFitCommand& command, const Session& session);

}  // namespace foretell
