// calib/factors/gpu/gemm/<device>.yaml: what matrix products reach on a device, one set of factors
// per kernel library and data type, whose table is called "trtllm bf16" (factor_file.hpp).
#pragma once

#include <string>
#include <vector>

#include "calib/fitted/gpu/gemm_factors.hpp"
#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"

namespace foretell {

// The parts of the name of a table.
std::string framework_of(const std::string& table);
std::string dtype_of(const std::string& table);

struct GemmFactorSet : FactorSet {
  GemmFactors factors;

  std::string framework() const;
  std::string dtype() const;
};

// The factors of a product, and where they are from.
struct ChosenGemmFactors {
  GemmFactorSet set;
  std::string note;    // "" when they were fitted on this device for this type
  std::string device;  // on which they were
};

// What was fitted for the device, framework and type. What was not is taken from the nearest:
// the same device and another type of the same pipe, then devices of the same generation, then
// others. `framework` may be empty: that of networks, or the first that there is. Taken from
// another device, latencies stay cycles and rates bytes per cycle; the launch follows the floor
// of the chip, the matrix pipe its reachable rate. UserError when there is nothing at all to
// take.
ChosenGemmFactors choose_gemm(const KernelFactorsLibrary& library, const GpuDeviceSpec& device,
                              const std::string& framework, const std::string& dtype);

}  // namespace foretell
