// `foretell calibrate fit` for collectives between the GPUs of a node.
#pragma once

#include <cstdint>

#include "model/cli/calibrate_gemm.hpp"
#include "model/timing/gpu_collective_timing.hpp"

namespace foretell {

// No factor is fitted to a row of an operation on so many GPUs, on any device.
bool is_held_out_collective(std::int64_t ranks);

// Of calls that are held out: is their interval made from it, rather than judged on it? By size.
bool collective_makes_interval(const GpuCollectiveShape& shape);

// Fits the newest version of every library of the device, judges it on the held-out rows, and
// writes <output>/gpu/collective/<device>.yaml, in which tables that were not fitted stay.
int calibrate_collective(const GemmFitCommand& command, const Session& session);

}  // namespace foretell
