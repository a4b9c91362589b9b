// Builds the recurring pieces of a transformer on top of Graph: named operators and weights.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

class BlockBuilder {
 public:
  explicit BlockBuilder(std::string graph_name) : graph_(std::move(graph_name)) {}

  // Prefixes of the names of the operators and of the weights that follow, without a dot at the
  // end. Blocks that share their weights have the same weight scope.
  void enter(std::string scope, std::string weight_scope, std::int32_t layer);
  void enter(const std::string& scope) { enter(scope, scope, kNoId); }

  // Weights of layers and of the head take the types that this states, which must outlive it.
  void store_as(const CheckpointFormat& checkpoint) { checkpoint_ = &checkpoint; }

  Graph& graph() { return graph_; }
  const Shape& shape(TensorId id) const { return graph_.tensor(id).shape; }

  // The weight `name` of the current scope, made when it does not exist yet.
  TensorId weight(const std::string& name, const Shape& shape);
  TensorId state(const std::string& name, const Shape& shape);
  TensorId op(const std::string& name, std::string_view kind, std::vector<TensorId> inputs,
              std::map<std::string, Attribute> attributes = {});

  // x [.., in] -> [.., out]: MatMul with a weight [in, out], then Add of a bias [out].
  TensorId linear(const std::string& name, TensorId x, std::int64_t out, bool bias = true);
  // The same where the cores of a tensor-parallel copy each hold some rows of the weight: the sum
  // over the cores comes between the product and the bias.
  TensorId row_parallel_linear(const std::string& name, TensorId x, std::int64_t out, bool bias);
  // x [B, S, ..] summed over the cores: on all of them, or, with spread tokens, each has its share.
  TensorId sum_over_ranks(const std::string& name, TensorId x);
  // x of all tokens; with spread tokens, from the shares of the cores.
  TensorId all_tokens(const std::string& name, TensorId x);
  // The columns of all cores, of which each has as many as `x`.
  TensorId all_columns(const std::string& name, TensorId x);
  // Tokens of a call that one core has.
  std::int64_t share_of(std::int64_t tokens) const;
  void set_ranks(int ranks) { ranks_ = ranks; }
  // From here on `tokens` are spread over the cores (sequence parallel).
  void spread_tokens(std::int64_t tokens) { spread_tokens_ = ranks_ > 1 ? tokens : 0; }
  TensorId layer_norm(const std::string& name, TensorId x);
  TensorId normalise(const std::string& name, TensorId x, Norm norm);
  TensorId activation(const std::string& name, TensorId x, Activation function);
  // Rows of a table [rows, columns] by ids [..]: [.., columns].
  TensorId embedding(const std::string& name, TensorId ids, std::int64_t rows,
                     std::int64_t columns);
  // [B, S, heads * dim] -> [B, heads, S, dim] and back.
  TensorId split_heads(const std::string& name, TensorId x, std::int64_t heads);
  TensorId merge_heads(const std::string& name, TensorId x);
  // The last of `tokens` of x [B, S, ..]. With spread tokens every core gives the last of its own,
  // and the last of those is taken.
  TensorId last_token(TensorId x, std::int64_t tokens);
  // x times the table of the embeddings, transposed: what a decoder ends with that has no other.
  TensorId tied_logits(TensorId x, std::int64_t vocab, std::int64_t hidden);
  // x [.., hidden] times a transposed table [vocab, hidden] of its own.
  TensorId times_table(const std::string& name, TensorId x, TensorId table);

 private:
  Graph graph_;
  std::string scope_;
  std::string weight_scope_;
  std::int32_t layer_ = kNoId;
  const CheckpointFormat* checkpoint_ = nullptr;
  int ranks_ = 1;
  std::int64_t spread_tokens_ = 0;  // 0: every core has all
  std::map<std::string, TensorId> weights_;
};

}  // namespace foretell
