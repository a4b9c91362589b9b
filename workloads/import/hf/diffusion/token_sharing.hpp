// Attention of transformers that remove noise, where several ranks divide the tokens of a sample.
//
// A rank has 1 / N of the tokens of the image or video, with all weights. For attention the ranks
// of a group exchange: each gets all tokens of the group for its share of the heads, and gives the
// results back (Jacobs et al. 2023, "DeepSpeed Ulysses", arXiv 2309.14509). Groups pass their keys
// and values around a ring of ranks, as prompts do (context_parallel.hpp) but without a mask: N is
// the ranks of a group times those of a ring (Fang and Zhao 2024, "USP", arXiv 2405.07719).
//
// Text tokens that all ranks have (replicated) are queries on each of them, and their keys and
// values join the last part of a ring with the heads of the rank alone: nothing of them is sent but
// the queries, which are exchanged with those of the image.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/import/hf/block_builder.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {

// Whether the tokens of a sample of this network can be divided: transformers that remove noise.
bool has_tokens_to_share(const ModelConfig& config);

struct TokenSharing {
  std::int64_t ranks = 1;
  std::int64_t ring = 1;  // ranks that keys and values go around

  std::int64_t of_heads() const { return ranks / ring; }  // ranks that divide the heads
};

// Without a stated ring as many ranks divide the heads as can. UserError where neither way works,
// and for layers that mix tokens in another way.
TokenSharing token_sharing(const ModelConfig& config, const Binding& binding);

// Of one rank: [B, heads, S, dim] each. The first `replicated` rows are those of all ranks.
struct SharedHeads {
  TensorId q = kNoId;
  TensorId k = kNoId;
  TensorId v = kNoId;
  std::int64_t replicated = 0;
};

// [B, S, heads * dim] of this rank.
TensorId attend_shared(BlockBuilder& block, const TokenSharing& sharing, const std::string& name,
                       const SharedHeads& own);

}  // namespace foretell
