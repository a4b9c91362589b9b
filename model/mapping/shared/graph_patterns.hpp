// What the fusion of every family of devices asks of a graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

bool is_activation(std::string_view kind);   // a function of one argument
bool is_binary(std::string_view kind);       // Add, Sub, Mul, Div
bool is_elementwise(std::string_view kind);  // those, factors of channels, rules of scores
bool is_roll(const Op& op);                  // along axes, what leaves on one side comes back
// Elements of weights gathered into other places: the same in every call.
bool is_made_once(const Graph& graph, const Op& op);

// Keys that one token reads where a pattern hides some: heads that share keys see others of those
// before the window.
std::int64_t keys_of_pattern(const Graph& graph, const Op& attention);
// The least share of its keys that an attention reads: less than 1 where an indexer or a pattern
// chose them.
double share_of_keys_read(const Graph& graph, const Op& attention);

inline bool is_weight(const Graph& graph, TensorId id) {
  return graph.tensor(id).kind == TensorKind::kWeight;
}

// The only reader of a tensor, or kNoId when there are several or it leaves the graph.
OpId single_consumer(const Graph& graph, TensorId id);

// Scores, what works on them, softmax and context: a softmax with a product above and below it, of
// queries and keys [batch, heads, length, head_dim] or what can be seen as such; the windows of a
// sample [batch, windows, heads, length, head_dim] are as many samples.
struct AttentionPattern {
  OpId scores = kNoId;
  OpId softmax = kNoId;
  OpId context = kNoId;
  std::vector<OpId> between;  // scores and softmax: scales, masks and biases, the last one first
  std::int64_t batch = 0, heads = 0, kv_heads = 0, queries = 0, keys = 0, head_dim = 0;

  std::vector<OpId> ops() const;  // all of them, in order
};

// Nothing where the softmax is none of an attention.
std::optional<AttentionPattern> match_attention(const Graph& graph, OpId softmax);

}  // namespace foretell
