// Attention as one kernel: scores stay in the SM.
//
// A thread block takes a tile of 128 queries of one head and walks the keys that the mask leaves in
// steps of 64; a step multiplies twice on the matrix pipe and takes one exponential per score from
// the special function units [CUDAPG]. Tiles of queries are issued in ascending order, so causal
// attention ends with its longest. Where there are fewer rows, all query heads that share keys are
// one tile, and the keys of a sequence are cut into parts as long as there are SMs for them.
// Efficiencies, prologue, feed of an SM and cost of combining parts are those of matrix products.
#pragma once

#include "hw/spec/gpu_spec.hpp"
#include "model/mapping/gpu/fuse.hpp"
#include "model/mapping/gpu/mapped_op.hpp"
#include "model/timing/gemm_timing.hpp"

namespace foretell {

// Appends the kernel and what bounds it. `dram`: what comes from and goes to DRAM; `all`: what is
// read and written. `timing` is that of products of the type.
void add_attention(const GpuDeviceSpec& device, const GemmTiming& timing, const GemmType& type,
                   const AttentionDimensions& attention, Bytes dram, Bytes all, MappedOp& op);

}  // namespace foretell
