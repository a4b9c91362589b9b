// Operators of today's language models: their rows of the operator table, and what shape rules,
// flop counts and mappings share.
//
//   Attention   q [B, heads, S, Dk], k [B, kv_heads, T, Dk], v [B, kv_heads, T, Dv], and, as the
//               attributes say, the choice of an Indexer and sinks [heads] -> [B, S, heads * Dv].
//               causal (0 or 1), window (keys a query sees, its own included; 0: all), chunk (keys
//               are seen from the start of the query's chunk on; 0: all), selected (keys that an
//               indexer chose for each query; 0: all), stride (of the keys before the window, one
//               in this many is seen, another by each head of a group; 0: none), ratio (of the
//               keys, the last 1 / (1 + ratio) stand for `ratio` tokens each; window is about the
//               others and selected about these), sinks (0 or 1), latent (1: the values are columns
//               of the keys and are read with them; 0: not)
//   Indexer     q [B, S, H, D], k [B, T, D], weights of the heads [B, S, H] (optional)
//               -> choice [B, S, min(top_k, keys / block)]; block: keys that are chosen together;
//               narrow: 1 where scores are products in FP8
//   Route       logits [.., E], bias [E] (optional) -> weights [.., k], choice [.., k]
//               function: softmax, sigmoid, sqrtsoftplus; groups, top_groups (1: no groups)
//   Experts     x [.., H], weights [.., k], choice [.., k], first matrices [held, H, W], second
//               matrices [held, I, H], biases [held, W] and [held, H] (optional) -> [.., H].
//               experts (of the layer; `held` of them are here), gated (W = 2 I, else W = I),
//               activation, routing and redundant (copies; workloads/ir/routing.hpp)
//   ExpertExchange  x [B, S, H], choice [.., k] (optional) -> the tokens of all `ranks` for the
//               experts held here [B * ranks, S, H] (direction "dispatch"), or back ("combine").
//               top_k and experts say how many ranks a token goes to
//   ShortConv   x [B, S, C], weight [C, K], state [B, C, K - 1], bias [C] (optional) -> [B, S, C]:
//               every channel over its last K tokens; activation
//   Scan        query [B, S, Hk, Dk], key [B, S, Hk, Dk], value [B, S, Hv, Dv], gates (one or two
//               of [B, S, Hv] or [B, S, Hv, Dk]; mamba1 also its rates [Hv, Dk]; lightning one
//               constant per head), state [B, Hv, Dk, Dv] -> [B, S, Hv * Dv]: a linear recurrence.
//               function: mamba2, mamba1, lightning, gated_delta, kimi_delta, rwkv7, rg_lru;
//               chunk: tokens that a prompt is computed in at a time
//   Compress    values [B, S, W], scores [B, S, W], state -> [B, max(1, S / ratio), D]: every
//               `ratio` tokens become one, a mean weighted by the softmax of their scores
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "workloads/ir/operators.hpp"

namespace foretell {

// The names of what goes to the next rank while attention works on what is here hold this: a
// machine with streams runs it beside the rest.
inline constexpr std::string_view kSentBeside = ".attention.ring.send";

// Pairs of one head's queries and the keys they see. Closed form; the queries are the last of the
// keys where it is causal.
struct VisibleKeys {
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  bool causal = false;
  std::int64_t window = 0;
  std::int64_t chunk = 0;
  std::int64_t selected = 0;
  std::int64_t ratio = 0;
  std::int64_t stride = 0;
};
double visible_pairs(const VisibleKeys& visible);
// The largest window with no more pairs than with `stride`, which is above 0.
std::int64_t window_of_as_many(VisibleKeys visible);

// Multiply-accumulates of a Scan per token and head of values.
//   one token:  the state is multiplied with the decay, the key, the query; mamba and
//               lightning add an outer product (1 decay as half a multiply-accumulate): 2.5 Dk Dv;
//               the delta rules read the state once more with the key: 3.5 Dk Dv
//   a chunk C:  scores and values inside it, C (Dk + Dv) / 2, reading and writing the state,
//               2 Dk Dv; the delta rules also solve a triangular system: C (Dk + (Dk + Dv)) / 2
//               and Dk Dv
double scan_macs_per_token(std::string_view function, std::int64_t key_dim, std::int64_t value_dim,
                           std::int64_t chunk);

namespace operators {

std::vector<OperatorInfo> network_rows();

}  // namespace operators
}  // namespace foretell
