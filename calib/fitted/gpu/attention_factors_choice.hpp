// Fitted factors of attention kernels: calib/factors/gpu/attention/<device>.yaml, one set per
// library, phase and data types.
#pragma once

#include <string>
#include <vector>

#include "calib/fitted/gpu/attention_factors.hpp"
#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"

namespace foretell {

struct ChosenAttentionFactors {
  AttentionFactors factors;
  std::string table;        // "trtllm context bf16 bf16"
  std::string device;       // that they were fitted on
  double interval_low = 1;  // measured / predicted
  double interval_high = 1;
};

// The first of `tables` that was fitted on the device, else on the nearest chip
// (KernelFactorsLibrary::choose). From another chip the launch follows the floor of the chip and
// the matrix pipe its reachable rate.
ChosenAttentionFactors choose_attention(const KernelFactorsLibrary& library,
                                        const GpuDeviceSpec& device,
                                        const std::vector<std::string>& tables);

// What is left without any fitted number: full rates, no latency but `launch`. The exponentials of
// the special function units are hidden by the products as far as these take longer.
AttentionFactors ideal_attention_factors(const GpuDeviceSpec& device, const std::string& type,
                                         double head_dim);

}  // namespace foretell
