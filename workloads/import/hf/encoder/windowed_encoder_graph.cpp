#include "workloads/import/hf/encoder/windowed_encoder_graph.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "workloads/import/hf/block_builder.hpp"

namespace foretell {
namespace {

class WindowedEncoder {
 public:
  WindowedEncoder(const ModelConfig& config, const Binding& binding)
      : config_(config), block_(config.name) {
    const Shape tokens{binding.batch, binding.seq_len};
    ids_ = block_.graph().add_input("input_ids", tokens, DType::kInt64);
    positions_ = block_.graph().add_input("position_ids", tokens, DType::kInt64);
    block_.enter("embeddings");
    if (config.norm == Norm::kLayerNorm) no_shift_ = block_.weight("no_shift", {config.hidden});
  }

  Graph build() {
    TensorId x = block_.embedding("word", ids_, config_.vocab, config_.hidden);
    if (config_.embedding_norm) x = norm("norm", x);
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      const std::string scope = "encoder." + std::to_string(i);
      block_.enter(scope, scope, static_cast<std::int32_t>(i));
      x = layer(x, i);
    }
    block_.enter("head");
    x = norm("final_norm", x);
    block_.graph().mark_output(config_.head == Head::kMaskedLm ? logits(x) : x);
    return std::move(block_.graph());
  }

 private:
  // Without a shift: one row of zeros stands for those of all norms.
  TensorId norm(const std::string& name, TensorId x) {
    if (no_shift_ == kNoId) return block_.normalise(name, x, config_.norm);
    return block_.op(name, "LayerNorm",
                     {x, block_.weight(name + ".gamma", {block_.shape(x).back()}), no_shift_});
  }

  TensorId rotated(const std::string& name, TensorId x) {
    return block_.op(name, "Rope", {x, positions_}, {{"dim", config_.head_dim}});
  }

  TensorId attention(TensorId x, bool sees_all) {
    const std::int64_t width = config_.hidden;
    const std::int64_t keys = config_.kv_heads * config_.head_dim;
    const TensorId qkv =
        block_.linear("attention.qkv", x, width + 2 * keys, config_.attention_bias);
    const TensorId first =
        block_.op("attention.split", "Split", {qkv},
                  {{"axis", std::int64_t{-1}}, {"sizes", Shape{width, keys, keys}}});
    const TensorId q = rotated("attention.query.rotate",
                               block_.split_heads("attention.query", first, config_.heads));
    const TensorId k = rotated("attention.key.rotate",
                               block_.split_heads("attention.key", first + 1, config_.kv_heads));
    const TensorId v = block_.split_heads("attention.value", first + 2, config_.kv_heads);
    std::map<std::string, Attribute> attributes{{"causal", std::int64_t{0}}};
    if (!sees_all) attributes["window"] = config_.window;
    const TensorId context = block_.op("attention", "Attention", {q, k, v}, std::move(attributes));
    return block_.linear("attention.output", context, width, config_.attention_bias);
  }

  TensorId feed_forward(TensorId x) {
    const std::int64_t width = config_.intermediate;
    const TensorId both = block_.linear("ffn.gate_and_up", x, 2 * width, config_.ffn_bias);
    const TensorId gate = block_.op("ffn.split", "Split", {both},
                                    {{"axis", std::int64_t{-1}}, {"sizes", Shape{width, width}}});
    const TensorId active = block_.activation("ffn.activation", gate, config_.activation);
    return block_.linear("ffn.output", block_.op("ffn.gated", "Mul", {active, gate + 1}),
                         config_.hidden, config_.ffn_bias);
  }

  // Where the embeddings are normalised already, the first layer has no norm before its attention.
  TensorId layer(TensorId x, std::int64_t index) {
    const bool is_normed = index == 0 && config_.embedding_norm;
    const TensorId before = is_normed ? x : norm("attention.norm", x);
    const bool sees_all = index % config_.all_tokens_every == 0;
    x = block_.op("attention.residual", "Add", {attention(before, sees_all), x});
    return block_.op("ffn.residual", "Add", {feed_forward(norm("ffn.norm", x)), x});
  }

  TensorId logits(TensorId x) {
    if (config_.norm == Norm::kRmsNorm)
      return block_.linear("decoder", x, config_.vocab, config_.head_bias);
    const TensorId dense = block_.linear("transform", x, config_.hidden, false);
    const TensorId active =
        block_.activation("transform.activation", dense, config_.head_activation);
    const TensorId normed = norm("transform.norm", active);
    if (config_.tied_embeddings) block_.enter("head", "embeddings", kNoId);
    const TensorId table = block_.weight(config_.tied_embeddings ? "word.weight" : "decoder.weight",
                                         {config_.vocab, config_.hidden});
    block_.enter("head");
    return block_.op("decoder.add_bias", "Add",
                     {block_.times_table("decoder", normed, table),
                      block_.weight("decoder.bias", {config_.vocab})});
  }

  const ModelConfig& config_;
  BlockBuilder block_;
  TensorId ids_ = kNoId;
  TensorId positions_ = kNoId;
  TensorId no_shift_ = kNoId;
};

}  // namespace

Graph build_windowed_encoder(const ModelConfig& config, const Binding& binding) {
  return WindowedEncoder(config, binding).build();
}

}  // namespace foretell
