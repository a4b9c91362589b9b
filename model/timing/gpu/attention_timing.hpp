// What attention costs on the SMs of a GPU, as kernels of thread blocks.
//
// Prompts (context, encoder): a thread block takes a tile of queries of one head, or of all heads
// that share keys (packed), and walks the keys that the mask leaves, in steps:
//
//   step  = 4 rows keys width / (mma_efficiency rate / SMs)      two products per score
//         + rows keys / 64 score                                  softmax; the longer of both where
//                                                                 they overlap (AttentionLibrary)
//   block = prologue + steps step + edges rows keys / 64 masked_score + its bytes / sm_feed
//
// The thread blocks of one tile of queries are one run, in the order in which the library issues
// them; waves and tails are the scheduler's. A separate kernel writes keys and values to the cache.
//
// Tokens (generation): a thread block takes the keys of one sequence and one head of keys, or a
// part of them, by the library's rule, 128 at a time: step + their bytes / sm_feed + softmax; parts
// are combined at the end. In parallel the cache is read from DRAM, or from L2 when it is still
// there from the call before.
#pragma once

#include "calib/fitted/gpu/attention_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/program/grid.hpp"
#include "model/timing/gpu/attention_library.hpp"

namespace foretell {

// What the thread blocks of the attention itself do, each part alone and spread over all SMs.
struct AttentionWork {
  Seconds products;
  Seconds softmax;
  Seconds feed;  // operands into the SMs, results out of them
  Seconds latency;
};

// One call: its kernels in order, of which the last is the attention itself.
struct AttentionPlan {
  GridSequence program;
  AttentionWork work;
};

// Shapes are positive; `heads` is a multiple of `key_heads`. Where an SM has no room for the tile
// of the library, that is halved until it fits: first its queries, then its keys. UserError when
// the chip has no pipe for the type, and when no tile fits.
AttentionPlan plan_attention(const GpuDeviceSpec& device, const AttentionLibrary& library,
                             const AttentionType& type, const AttentionFactors& factors,
                             const AttentionShape& shape);

// The kernels of the plan.
GridSequence attention_program(const GpuDeviceSpec& device, const AttentionLibrary& library,
                               const AttentionType& type, const AttentionFactors& factors,
                               const AttentionShape& shape);

// The closed form of what the simulator makes of a program: thread blocks as the scheduler places
// them, overlapped with what moves beside them.
Seconds program_time(const GridSequence& program, const GpuDeviceSpec& device);

}  // namespace foretell
