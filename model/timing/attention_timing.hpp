// What attention costs on the SMs of a GPU, as kernels of thread blocks.
//
// Prompts (context, encoder): a thread block takes a tile of queries of one head, or of all heads
// that share keys (packed), and walks the keys that the mask leaves, in steps:
//
//   step  = 4 rows keys width / (mma_efficiency rate / SMs)      two products per score
//         + rows keys / 64 score                                  softmax
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

#include <cstdint>
#include <string>

#include "hw/spec/attention_factors.hpp"
#include "hw/spec/gpu_spec.hpp"
#include "model/program/gpu_kernel.hpp"

namespace foretell {

enum class AttentionPhase { kContext, kEncoder, kGeneration };

struct AttentionShape {
  AttentionPhase phase = AttentionPhase::kContext;
  std::int64_t batch = 1;
  std::int64_t queries = 1;  // tokens of one sequence that ask
  std::int64_t keys = 1;     // tokens of one sequence that answer, the asking ones included
  std::int64_t heads = 1;
  std::int64_t key_heads = 1;
  std::int64_t head_dim = 128;
  std::int64_t window = 0;  // tokens a query looks back, itself not counted; 0: all
};

struct AttentionType {
  std::string rate = "bf16";  // rate of the chip that counts
  double query_bytes = 2;     // per element, in the products
  double key_bytes = 2;       // per element, in the cache
};

// What is known of a kernel library without a measurement.
struct AttentionLibrary {
  enum class Split { kFastest, kXqa, kFlash3 };
  enum class Prepare { kNone, kCacheWrite, kSplitAndRotate };
  bool longest_first = false;
  bool packs_queries = false;  // all heads that share keys in one tile
  bool wide_tiles = false;     // of queries and keys, by head width
  Split split = Split::kFastest;
  Prepare prepare = Prepare::kCacheWrite;
  double max_split = 128;            // parts of a sequence, where the rule knows no other limit
  bool skips_window = true;          // prompts: keys outside the window are not walked
  bool one_head = false;             // a thread block serves one query head
  int blocks_per_sm = 1;             // thread blocks that an SM holds, of generation
  bool special_small_heads = false;  // special_block is of heads narrower than 128
};

// Which kernels `framework` calls for a shape: its name, with an addition where heads, windows or
// types make it call others.
std::string attention_kernels(const std::string& architecture, const std::string& framework,
                              const AttentionType& type, const AttentionShape& shape);
// The library of such a name.
AttentionLibrary attention_library(const std::string& architecture, const std::string& kernels);

// The kernels of one call, in order. Shapes are positive; `heads` is a multiple of `key_heads`.
// UserError when the chip has no pipe for the type.
GpuProgram attention_program(const GpuDeviceSpec& device, const AttentionLibrary& library,
                             const AttentionType& type, const AttentionFactors& factors,
                             const AttentionShape& shape);

// The closed form of what the simulator makes of a program: thread blocks as the scheduler places
// them, overlapped with what moves beside them.
Seconds program_time(const GpuProgram& program, const GpuDeviceSpec& device);

}  // namespace foretell
