// The part of attention that all transformers have in common: scores, masking, softmax, context.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/import/hf/block_builder.hpp"

namespace foretell {

enum class MaskKind { kNone, kAdded, kCausal };

struct ScoreRule {
  MaskKind mask = MaskKind::kNone;
  TensorId added = kNoId;   // kAdded: what to add to the scores
  std::int64_t offset = 0;  // kCausal: keys that come before the first query
  std::int64_t window = 0;  // kCausal: keys that a query sees, its own included; 0: all
  bool scaled = true;       // by 1 / sqrt(columns of a head)
  bool alibi = false;       // a penalty for distance
  TensorId bias = kNoId;    // added to the scores: a learned function of the distance
};

ScoreRule added_mask(TensorId mask);

// q [B, heads, S, dim], k and v [B, kv_heads, T, dim] -> [B, S, heads * dim]. With fewer kv_heads
// than heads, each serves a group of neighbouring query heads and is not copied. `name` stands in
// front of the operators' names.
TensorId attend(BlockBuilder* block, const std::string& name, TensorId q, TensorId k, TensorId v,
                const ScoreRule& rule);

// The KV cache of one attention as state of the graph, [B, kv_heads, rows, dim] each, with the new
// keys and values written into it.
struct Cached {
  TensorId keys;
  TensorId values;
};
Cached update_cache(BlockBuilder* block, const std::string& name, TensorId k, TensorId v,
                    std::int64_t rows);

}  // namespace foretell
