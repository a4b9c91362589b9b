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
// block, which is the filling of its stages; where tensor memory is new, the softmax of one tile
// counts whole, because its tiles take turns.
//
// From a chip whose matrix pipe reads shared memory itself to one where threads load operands and
// wait for products (mma.sync): the softmax of prompts follows the products instead of passing
// under them, thread blocks share an SM and start under one another, and a kernel that combines
// parts or brings heads together waits for the one before. Prompts of latents: reading operands
// adds to multiplying, by the width of the pipe and of shared memory (share_with_reads()).
// Products that are no plugins: results leave through registers at the width of the pipe, and fewer
// stages are in flight where shared memory is smaller.
#pragma once

#include <string>

#include "calib/fitted/gpu/attention_factors.hpp"
#include "calib/fitted/gpu/gemm_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"

namespace foretell {

// `dtype` is the type of the table ("bf16", "int8_wo").
void carry_over(GemmFactors& factors, const std::string& dtype, const GpuDeviceSpec& teacher,
                const GpuDeviceSpec& device);

// Cycles of 64 scores of a softmax that nothing hides: exponentials and FP32 instructions.
Cycles whole_softmax(const GpuDeviceSpec& device, const CommonFactors& common);

// What is left of a share of the matrix pipe that kernels reach on `teacher` when operands are read
// as `device` does: 1 / share + reads(device) - reads(teacher), where reads are those of a warp's
// tile from shared memory beside its products, none where the pipe reads them itself.
double share_with_reads(double share, const GpuDeviceSpec& teacher, const GpuDeviceSpec& device,
                        const CommonFactors& common);

void carry_over(AttentionFactors& factors, const GpuDeviceSpec& teacher,
                const GpuDeviceSpec& device);

}  // namespace foretell
