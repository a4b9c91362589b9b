// The time of a whole layer of attention from the times of its kernels:
//
//   graph = others + p products + a attention + i indexer + reference
//           + kernels * launch floor + head_copies * tokens * heads / DRAM + choice
//   time  = max(graph, host + halvings * host_quantises)
//
// where the host launches kernel by kernel, they hide in its time, or its time in theirs. `choice`
// and the second of two host times are of calls with more keys than an indexer may choose.
//
// `reference`: some libraries attend by operators of a framework where they have no kernel.
// TensorRT-LLM's for MiniMax-M3 (_torch/attention_backend/sparse/minimax_m3/backend.py, 1.3.0rc20)
// puts the pages of keys together, converts them to FP32 for every slab of queries whose copies fit
// a budget, and copies all keys, values and keys of the indexer for every query of it. Scores of
// all pairs are FP32, and each operator on them reads and writes them all.
#pragma once

#include <cstdint>

#include "calib/fitted/gpu/attention_block_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/base/units.hpp"

namespace foretell {

// Attention by operators of a framework, of one call.
struct ReferenceWork {
  double slabs = 0;  // 0: there is none
  Bytes gathered;    // keys in their own type
  Bytes converted;   // read in their own type and written in FP32, slab by slab; or copied
  Bytes expanded;    // copies for every query, read, written, and read by the products; and scores
};

// Shapes of that attention. Widths are elements of a key of all heads that share it.
struct ReferenceShape {
  std::int64_t batch = 1;
  std::int64_t queries = 1;  // of a sequence
  std::int64_t keys = 1;     // of a sequence, the queries included
  std::int64_t heads = 1;
  std::int64_t key_heads = 1;
  std::int64_t key_width = 0;    // of keys; values are as wide
  std::int64_t index_width = 0;  // of keys of the indexer, which all its heads share
  std::int64_t index_heads = 0;
};

// `slab`: what the copies for a slab of queries may take. Bytes of keys in two-byte types.
ReferenceWork reference_work(const ReferenceShape& shape, Bytes slab);

// Keys of an indexer whose whole pool of pages, `pool` times those in use, is copied in every call.
ReferenceWork pool_copy(const ReferenceShape& shape, double pool);

// Times of kernels alone, each as a network runs them.
struct AttentionBlockWork {
  Seconds products;
  Seconds attention;
  Seconds indexer;
  Seconds others;
  ReferenceWork reference;
  int halvings = 0;           // of 16 bits, to the type of projections
  bool narrow_cache = false;  // keys and values in FP8
  bool chosen = false;        // what is attended to
  bool chooses = false;       // more keys than an indexer may choose
  double tokens = 0;
  double heads = 0;
};

// The time of attention beside that of its kernels alone.
double attention_in_layer(const AttentionBlockFactors& factors, bool narrow_cache);

Seconds attention_block_time(const AttentionBlockWork& work, const AttentionBlockFactors& factors,
                             const GpuDeviceSpec& device);

}  // namespace foretell
