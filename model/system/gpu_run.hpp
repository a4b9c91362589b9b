// Rows of grids on a simulated GPU, or on the GPUs of a node: what predictors of single kernels ask
// for.
#pragma once

#include <cstdint>
#include <vector>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/base/units.hpp"
#include "model/program/grid.hpp"

namespace foretell {

// The time of each list of grids, in one run, one after the other. What a grid finds in L2 is part
// of it (its DRAM bytes), so that their order does not matter. Where they exchange data, the other
// GPUs of the largest group take part in that; with `every_gpu` they run all of them, too.
std::vector<Seconds> simulate_gpu(const GpuDeviceSpec& device,
                                  const std::vector<GridSequence>& programs,
                                  bool every_gpu = false);

// What passed the links of one GPU in all programs.
struct GpuLinkTraffic {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
};

struct GpuNodeExecution {
  std::vector<Seconds> times;         // of each list, on the first GPU
  std::vector<GpuLinkTraffic> links;  // by GPU
};

// The same on all GPUs of the largest group: in lock step only the first of them runs grids, else
// every one runs all of them. Exchanges of different groups must have the same peak.
GpuNodeExecution simulate_gpus(const GpuDeviceSpec& device,
                               const std::vector<GridSequence>& programs, bool lock_step);

}  // namespace foretell
