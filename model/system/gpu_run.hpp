// Runs programs of kernels on a simulated GPU.
#pragma once

#include <vector>

#include "hw/spec/gpu_spec.hpp"
#include "model/base/units.hpp"
#include "model/program/gpu_kernel.hpp"

namespace foretell {

// The time of each program, run one after another on a GPU that is built once. What a program
// finds in L2 is part of it (its DRAM bytes), so that their order does not matter.
std::vector<Seconds> simulate_gpu(const GpuDeviceSpec& device,
                                  const std::vector<GpuProgram>& programs);

}  // namespace foretell
