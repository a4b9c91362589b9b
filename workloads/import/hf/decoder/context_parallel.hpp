// Attention where several ranks divide the tokens of a prompt (context parallel).
//
// Of 2 N chunks of the tokens, rank r of N has the r-th from the start and the r-th from the end
// (zig-zag), so every rank has as many pairs of queries and keys that a causal mask lets see each
// other. Keys and values go round the ranks as a ring (Liu, Zaharia and Abbeel 2023, "Ring
// Attention with Blockwise Transformers", arXiv 2310.01889; in zig-zag as zhuzilin's
// ring-flash-attention, Megatron-LM and TransformerEngine run it): while a rank attends to what it
// has, it sends that on and receives the next part. With n tokens of a rank,
//
//   its own part       n (n + 1) / 2 pairs
//   each other part    n n / 2 pairs: all queries see the first half of the keys, or the second
//                      half of the queries sees all keys; the graph has the first form
//
// which adds up over the ranks to the pairs of the whole prompt. The result of a part is merged
// with those before it in a pass of its own. What a rank sends of a part is all its keys and
// values.
//
// Layers with a window or chunks need the keys just before a chunk alone: one exchange with a
// neighbour where a chunk is as long as the window, else all ranks' keys and values are gathered.
//
// In decode every rank computes the new tokens and has 1 / N of the rows of the cache; the partial
// results are gathered and merged (decode context parallel, as vLLM and "Context Parallelism for
// Scalable Million-Token Inference", Yang et al. 2024, arXiv 2411.01783, pass queries).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "workloads/import/hf/block_builder.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {

// UserError for layers that mix tokens in a way that is not modelled: recurrences, compressed
// caches, keys that an indexer chooses.
void check_context_parallel(const ModelConfig& config);

// The binding of one rank: its tokens (padded to whole chunks) and its rows of the cache.
Binding share_of_rank(const Binding& binding);

struct RankAttention {
  TensorId q = kNoId;      // [B, heads, S, Dk], of this rank
  TensorId k = kNoId;      // [B, kv_heads, T, Dk], of this rank
  TensorId v = kNoId;      // [B, kv_heads, T, Dv]
  std::int64_t reach = 0;  // keys that a query sees back, its own included; 0: all
  std::map<std::string, Attribute> attributes;  // of the operator Attention, without `causal`
  std::vector<TensorId> more;                   // its inputs after the values
};

// [B, S, heads * Dv] of this rank.
TensorId attend_over_ranks(BlockBuilder& block, const Binding& binding, const RankAttention& own);

}  // namespace foretell
