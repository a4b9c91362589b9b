// How factors that were fitted on one GPU, the teacher, carry over to another that was not
// measured.
//
// Latencies are cycles and rates of an SM bytes per cycle, so clocks and numbers of SMs carry over
// by themselves. The rest follows facts of the two chips:
//
//   launch            by the difference of their launch floors
//   mma_efficiency    by the largest share of the dense rate that products were seen at
//   l2_share          by the share of L2 in which data stay
//   l2_feed           by the width of the matrix pipe, FLOP per cycle of an SM: L2 is built to feed
//   it quantise_passes   what is beyond one pass stays a time
//
// Plugins of TensorRT: launches are cycles of the clock, a split keeps its time, and half of a
// stage over narrow weights goes with the FP32 rate of an SM, on which they are widened.
// Attention: a wider matrix pipe also has a wider feed into the SM and a shorter start of a thread
// block, which is the filling of its stages; where tensor memory is new, the exponentials of one
// tile count whole, because its tiles take turns.
#pragma once

#include <string>

#include "calib/fitted/gpu/attention_factors.hpp"
#include "calib/fitted/gpu/gemm_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"

namespace foretell {

// `dtype` is the type of the table ("bf16", "int8_wo").
void carry_over(GemmFactors& factors, const std::string& dtype, const GpuDeviceSpec& teacher,
                const GpuDeviceSpec& device);

void carry_over(AttentionFactors& factors, const GpuDeviceSpec& teacher,
                const GpuDeviceSpec& device);

}  // namespace foretell
