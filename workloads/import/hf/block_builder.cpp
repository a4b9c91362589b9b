#include "workloads/import/hf/block_builder.hpp"

#include <utility>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/config/stored_formats.hpp"

namespace foretell {

void BlockBuilder::enter(std::string scope, std::string weight_scope, std::int32_t layer) {
  scope_ = std::move(scope);
  weight_scope_ = std::move(weight_scope);
  layer_ = layer;
}

TensorId BlockBuilder::weight(const std::string& name, const Shape& shape) {
  const std::string full_name = weight_scope_ + "." + name;
  const auto known = weights_.find(full_name);
  if (known != weights_.end()) {
    FORETELL_CHECK(graph_.tensor(known->second).shape == shape,
                   "weight '" + full_name + "' has two shapes");
    return known->second;
  }
  const TensorId id = graph_.add_weight(full_name, shape, DType::kFp32);
  weights_.emplace(full_name, id);
  constexpr std::string_view kMatrix = ".weight";
  const bool is_stated = checkpoint_ != nullptr && ends_with(name, kMatrix) &&
                         (layer_ != kNoId || weight_scope_ == "head");
  if (is_stated) {
    store_as_stated(*checkpoint_, layer_, name.substr(0, name.size() - kMatrix.size()), id,
                    &graph_);
  }
  return id;
}

TensorId BlockBuilder::state(const std::string& name, const Shape& shape) {
  return graph_.add_state(scope_ + "." + name, shape, DType::kFp32);
}

TensorId BlockBuilder::op(const std::string& name, std::string_view kind,
                          std::vector<TensorId> inputs,
                          std::map<std::string, Attribute> attributes) {
  return graph_.add_op(scope_ + "." + name, kind, std::move(inputs), std::move(attributes), layer_);
}

TensorId BlockBuilder::linear(const std::string& name, TensorId x, std::int64_t out, bool bias) {
  const std::int64_t in = shape(x).back();
  const TensorId product = op(name, "MatMul", {x, weight(name + ".weight", {in, out})});
  if (!bias) return product;
  return op(name + ".add_bias", "Add", {product, weight(name + ".bias", {out})});
}

TensorId BlockBuilder::row_parallel_linear(const std::string& name, TensorId x, std::int64_t out,
                                           bool bias) {
  const TensorId sum = sum_over_ranks(name, linear(name, x, out, false));
  if (!bias) return sum;
  return op(name + ".add_bias", "Add", {sum, weight(name + ".bias", {out})});
}

TensorId BlockBuilder::sum_over_ranks(const std::string& name, TensorId x) {
  if (ranks_ == 1) return x;
  if (spread_tokens_ == 0)
    return op(name + ".all_reduce", "AllReduce", {x}, {{"ranks", std::int64_t{ranks_}}});
  return op(name + ".reduce_scatter", "ReduceScatter", {x},
            {{"axis", std::int64_t{1}}, {"ranks", std::int64_t{ranks_}}});
}

TensorId BlockBuilder::all_tokens(const std::string& name, TensorId x) {
  if (spread_tokens_ == 0) return x;
  return op(name + ".all_gather", "AllGather", {x},
            {{"axis", std::int64_t{1}}, {"ranks", std::int64_t{ranks_}}, {"size", spread_tokens_}});
}

TensorId BlockBuilder::all_columns(const std::string& name, TensorId x) {
  if (ranks_ == 1) return x;
  return op(name + ".all_gather", "AllGather", {x},
            {{"axis", std::int64_t{-1}},
             {"ranks", std::int64_t{ranks_}},
             {"size", shape(x).back() * ranks_}});
}

std::int64_t BlockBuilder::share_of(std::int64_t tokens) const {
  return spread_tokens_ == 0 ? tokens : (tokens + ranks_ - 1) / ranks_;
}

TensorId BlockBuilder::layer_norm(const std::string& name, TensorId x) {
  const Shape parameter{shape(x).back()};
  return op(name, "LayerNorm",
            {x, weight(name + ".gamma", parameter), weight(name + ".beta", parameter)});
}

TensorId BlockBuilder::normalise(const std::string& name, TensorId x, Norm norm) {
  if (norm == Norm::kLayerNorm) return layer_norm(name, x);
  return op(name, "RmsNorm", {x, weight(name + ".gamma", {shape(x).back()})});
}

TensorId BlockBuilder::activation(const std::string& name, TensorId x, Activation function) {
  switch (function) {
    case Activation::kGelu:
      return op(name, "Gelu", {x}, {{"approximate", std::string("none")}});
    case Activation::kGeluTanh:
      return op(name, "Gelu", {x}, {{"approximate", std::string("tanh")}});
    case Activation::kRelu:
      return op(name, "Relu", {x});
    case Activation::kSilu:
      return op(name, "Silu", {x});
    case Activation::kTanh:
      return op(name, "Tanh", {x});
  }
  throw InternalError(__FILE__, __LINE__, "activation without an operator");
}

TensorId BlockBuilder::embedding(const std::string& name, TensorId ids, std::int64_t rows,
                                 std::int64_t columns) {
  return op(name, "Gather", {weight(name + ".weight", {rows, columns}), ids});
}

TensorId BlockBuilder::split_heads(const std::string& name, TensorId x, std::int64_t heads) {
  const Shape in = shape(x);
  const Shape split{in[0], in[1], heads, in[2] / heads};
  const TensorId reshaped = op(name + ".split_heads", "Reshape", {x}, {{"shape", split}});
  return op(name + ".transpose", "Transpose", {reshaped}, {{"perm", Shape{0, 2, 1, 3}}});
}

TensorId BlockBuilder::merge_heads(const std::string& name, TensorId x) {
  const Shape in = shape(x);
  const TensorId transposed =
      op(name + ".transpose", "Transpose", {x}, {{"perm", Shape{0, 2, 1, 3}}});
  return op(name + ".merge_heads", "Reshape", {transposed},
            {{"shape", Shape{in[0], in[2], in[1] * in[3]}}});
}

TensorId BlockBuilder::last_token(TensorId x, std::int64_t tokens) {
  const auto last_of = [this](const std::string& name, TensorId from, std::int64_t size) {
    return op(name, "Slice", {from},
              {{"axis", std::int64_t{1}}, {"begin", size - 1}, {"end", size}});
  };
  const std::int64_t own = share_of(tokens);
  x = last_of("last_token", x, own);
  if (own == tokens) return x;
  spread_tokens(ranks_);
  return last_of("last_rank", all_tokens("last_token", x), ranks_);
}

TensorId BlockBuilder::tied_logits(TensorId x, std::int64_t vocab, std::int64_t hidden) {
  enter("head", "embeddings", kNoId);
  return times_table("decoder", x, weight("word.weight", {vocab, hidden}));
}

TensorId BlockBuilder::times_table(const std::string& name, TensorId x, TensorId table) {
  return op(name, "MatMul", {x, table}, {{"transpose_b", std::int64_t{1}}});
}

}  // namespace foretell
