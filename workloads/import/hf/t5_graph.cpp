#include "workloads/import/hf/t5_graph.hpp"

#include <cmath>

#include "workloads/import/hf/attention.hpp"
#include "workloads/import/hf/block_builder.hpp"
#include "workloads/import/hf/decoder_graph.hpp"
#include "workloads/import/hf/shard.hpp"

namespace foretell {
namespace {

class T5Builder {
 public:
  T5Builder(const ModelConfig& config, const Binding& binding)
      : config_(config), binding_(binding), block_(config.name) {
    block_.set_ranks(binding.tensor_parallel);
  }

  Graph prefill() {
    const TensorId x = encoder();
    for (std::int64_t i = 0; i < config_.decoder_layers; ++i) {
      enter_block("decoder", i);
      block_.graph().mark_state(project("cross_attention.key", x));
      block_.graph().mark_state(project("cross_attention.value", x));
    }
    return std::move(block_.graph());
  }

  Graph encode() {
    block_.graph().mark_output(encoder());
    return std::move(block_.graph());
  }

  Graph decode() {
    TensorId x = embeddings();
    ScoreRule self;
    self.mask = MaskKind::kCausal;
    self.offset = binding_.kv_len - binding_.seq_len;
    self.scaled = false;
    self.bias = distance_bias("decoder", binding_.seq_len, binding_.kv_len);
    ScoreRule cross = added_mask(block_.graph().add_input(
        "encoder_attention_mask", {binding_.batch, 1, 1, binding_.encoder_len}, DType::kFp32));
    cross.scaled = false;
    for (std::int64_t i = 0; i < config_.decoder_layers; ++i) {
      enter_block("decoder", i);
      x = self_attention_block(x, self, Phase::kDecode);
      x = cross_attention_block(x, cross);
      x = feed_forward_block(x);
    }
    block_.enter("decoder");
    x = logits(normalise("norm", x));
    block_.graph().mark_output(binding_.gather_logits ? block_.all_columns("logits", x) : x);
    return std::move(block_.graph());
  }

 private:
  TensorId encoder() {
    const std::int64_t tokens = binding_.seq_len;
    TensorId x = embeddings();
    const TensorId bias = distance_bias("encoder", tokens, tokens);
    ScoreRule rule = added_mask(
        block_.graph().add_input("attention_mask", {binding_.batch, 1, 1, tokens}, DType::kFp32));
    rule.scaled = false;
    rule.bias = bias;
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      enter_block("encoder", i);
      x = self_attention_block(x, rule, Phase::kForward);
      x = feed_forward_block(x);
    }
    block_.enter("encoder");
    return normalise("norm", x);
  }

  void enter_block(const std::string& stack, std::int64_t index) {
    const std::string scope = stack + "." + std::to_string(index);
    block_.enter(scope, scope, static_cast<std::int32_t>(index));
  }

  TensorId embeddings() {
    const TensorId ids =
        block_.graph().add_input("input_ids", {binding_.batch, binding_.seq_len}, DType::kInt64);
    block_.enter("embeddings");
    return block_.sum_over_ranks("word",
                                 block_.embedding("word", ids, config_.vocab, config_.hidden));
  }

  // The bias that all blocks of a stack add to their scores: [1, heads, queries, keys].
  TensorId distance_bias(const std::string& stack, std::int64_t queries, std::int64_t keys) {
    const TensorId buckets =
        block_.graph().add_input("distance_buckets", {queries, keys}, DType::kInt64);
    block_.enter(stack);
    const TensorId bias =
        block_.embedding("distance", buckets, config_.relative_buckets, config_.heads);
    const TensorId by_head =
        block_.op("distance.transpose", "Transpose", {bias}, {{"perm", Shape{2, 0, 1}}});
    return block_.op("distance.batch", "Reshape", {by_head},
                     {{"shape", Shape{1, config_.heads, queries, keys}}});
  }

  TensorId normalise(const std::string& name, TensorId x) {
    return block_.normalise(name, x, config_.norm);
  }

  TensorId project(const std::string& name, TensorId x) {
    const TensorId y = block_.linear(name, x, config_.heads * config_.head_dim, config_.qkv_bias);
    return block_.split_heads(name, y, config_.heads);
  }

  TensorId add_attention(const std::string& name, TensorId context, TensorId x) {
    const TensorId output = block_.row_parallel_linear(name + ".output", context, config_.hidden,
                                                       config_.attention_bias);
    return block_.op(name + ".residual", "Add", {output, x});
  }

  TensorId self_attention_block(TensorId x, const ScoreRule& rule, Phase phase) {
    const TensorId normed = normalise("attention.norm", x);
    const TensorId q = project("attention.query", normed);
    TensorId k = project("attention.key", normed);
    TensorId v = project("attention.value", normed);
    if (phase == Phase::kDecode) {
      const Cached cache = update_cache(&block_, "attention", k, v, binding_.kv_len);
      k = cache.keys;
      v = cache.values;
    }
    return add_attention("attention", attend(&block_, "attention", q, k, v, rule), x);
  }

  TensorId cross_attention_block(TensorId x, const ScoreRule& rule) {
    const TensorId q = project("cross_attention.query", normalise("cross_attention.norm", x));
    const Shape shape{binding_.batch, config_.heads, binding_.encoder_len, config_.head_dim};
    const TensorId k = block_.state("cross_attention.key_cache", shape);
    const TensorId v = block_.state("cross_attention.value_cache", shape);
    return add_attention("cross_attention", attend(&block_, "cross_attention", q, k, v, rule), x);
  }

  TensorId feed_forward_block(TensorId x) {
    const TensorId fed = decoder_feed_forward(&block_, normalise("ffn.norm", x), config_);
    return block_.op("ffn.residual", "Add", {fed, x});
  }

  // With a tied table the hidden states are scaled down first.
  TensorId logits(TensorId x) {
    block_.enter("head");
    if (!config_.tied_embeddings) return block_.linear("decoder", x, config_.vocab, false);
    const double scale = 1.0 / std::sqrt(static_cast<double>(config_.hidden));
    x = block_.op("scale", "Mul", {x}, {{"scalar", scale}});
    return block_.tied_logits(x, config_.vocab, config_.hidden);
  }

  const ModelConfig& config_;
  const Binding& binding_;
  BlockBuilder block_;
};

}  // namespace

Graph build_t5_prefill(const ModelConfig& config, const Binding& binding) {
  const ModelConfig shard = shard_of(config, binding.tensor_parallel);
  return T5Builder(shard, binding).prefill();
}

Graph build_t5_encoder(const ModelConfig& config, const Binding& binding) {
  return T5Builder(config, binding).encode();
}

Graph build_t5_decode(const ModelConfig& config, const Binding& binding) {
  const ModelConfig shard = shard_of(config, binding.tensor_parallel);
  return T5Builder(shard, binding).decode();
}

}  // namespace foretell
