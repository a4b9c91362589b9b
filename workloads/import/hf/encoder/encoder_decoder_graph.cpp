#include "workloads/import/hf/encoder/encoder_decoder_graph.hpp"

#include <cmath>

#include "model/base/text.hpp"
#include "workloads/import/hf/attention.hpp"
#include "workloads/import/hf/block_builder.hpp"
#include "workloads/import/hf/decoder/decoder_graph.hpp"
#include "workloads/import/hf/decoder/shard.hpp"
#include "workloads/import/hf/vision/tower.hpp"

namespace foretell {
namespace {

class EncoderDecoderBuilder {
 public:
  // Shares of one rank. The encoder may have other sizes than the decoder.
  EncoderDecoderBuilder(const ModelConfig& encoder, const ModelConfig& decoder,
                        const Binding& binding)
      : encoder_(encoder), decoder_(decoder), binding_(binding), block_(decoder.name) {
    block_.set_ranks(binding.tensor_parallel);
  }

  Graph prefill() {
    const TensorId x = encoded();
    for (std::int64_t i = 0; i < decoder_.decoder_layers; ++i) {
      enter_block("decoder", i);
      for (const char* name : {"cross_attention.key", "cross_attention.value"})
        block_.graph().mark_state(project(decoder_, name, x, decoder_.kv_heads));
    }
    return std::move(block_.graph());
  }

  Graph encode() {
    block_.graph().mark_output(encoded());
    return std::move(block_.graph());
  }

  Graph decode() {
    TensorId x = with_positions(words(decoder_, "embeddings"));
    ScoreRule self;
    self.mask = MaskKind::kCausal;
    self.offset = binding_.kv_len - binding_.seq_len;
    if (is_relative()) self.bias = distance_bias("decoder", binding_.seq_len, binding_.kv_len);
    const ScoreRule cross = padding_rule("encoder_attention_mask", binding_.encoder_len);
    self.scaled = cross.scaled;
    for (std::int64_t i = 0; i < decoder_.decoder_layers; ++i) {
      enter_block("decoder", i);
      self.window = decoder_.window_of_layer(i);
      x = self_attention_block(decoder_, x, self, Phase::kDecode);
      x = cross_attention_block(x, cross);
      x = feed_forward_block(decoder_, x);
    }
    block_.enter("decoder");
    x = logits(at_the_end(x));
    block_.graph().mark_output(binding_.gather_logits ? block_.all_columns("logits", x) : x);
    return std::move(block_.graph());
  }

 private:
  bool is_relative() const { return decoder_.position_kind == Positions::kRelative; }
  bool is_rotary() const { return decoder_.position_kind == Positions::kRotary; }
  bool is_learned() const { return decoder_.position_kind == Positions::kLearned; }
  bool hears() const { return encoder_.encoder.mel_bins > 0; }

  TensorId encoded() {
    const std::int64_t tokens = binding_.seq_len;
    TensorId x =
        hears() ? sound() : words(encoder_, encoder_.encoder.own_table ? "encoder" : "embeddings");
    if (is_rotary()) add_position_ids();
    if (is_learned() && !hears()) x = with_learned_positions("encoder", encoder_, x);
    const TensorId bias = is_relative() ? distance_bias("encoder", tokens, tokens) : kNoId;
    ScoreRule rule = padding_rule("attention_mask", tokens);
    rule.bias = bias;
    for (std::int64_t i = 0; i < encoder_.layers; ++i) {
      enter_block("encoder", i);
      x = self_attention_block(encoder_, x, rule, Phase::kForward);
      x = feed_forward_block(encoder_, x);
    }
    block_.enter("encoder");
    return at_the_end(x);
  }

  // Layers of the decoder are numbered after those of the encoder.
  void enter_block(const std::string& stack, std::int64_t index) {
    const std::string scope = stack + "." + std::to_string(index);
    const std::int64_t before = stack == "decoder" ? encoder_.layers : 0;
    block_.enter(scope, scope, static_cast<std::int32_t>(before + index));
  }

  TensorId words(const ModelConfig& stack, const std::string& scope) {
    const TensorId ids =
        block_.graph().add_input("input_ids", {binding_.batch, binding_.seq_len}, DType::kInt64);
    block_.enter(scope);
    return block_.sum_over_ranks("word", block_.embedding("word", ids, stack.vocab, stack.hidden));
  }

  // Frames of log-mel features become half as many positions by two convolutions over time.
  TensorId sound() {
    constexpr std::int64_t kKernel = 3;
    TensorId x = block_.graph().add_input(
        "log_mel", {binding_.batch, encoder_.encoder.mel_bins, 2 * binding_.seq_len, 1},
        DType::kFp32);
    block_.enter("encoder");
    for (const std::int64_t stride : {1, 2}) {
      const std::string name = "conv" + std::to_string(stride);
      const TensorId filters = block_.weight(
          name + ".weight", {encoder_.hidden, block_.shape(x)[1], kKernel, std::int64_t{1}});
      x = block_.op(name, "Conv", {x, filters, block_.weight(name + ".bias", {encoder_.hidden})},
                    {{"strides", Shape{stride, 1}}, {"pads", Shape{1, 0, 1, 0}}});
      x = block_.activation(name + ".activation", x, encoder_.activation);
    }
    return block_.op("add_position", "Add",
                     {pixels_to_tokens(&block_, "conv2", x),
                      block_.weight("position.weight", {binding_.seq_len, encoder_.hidden})});
  }

  void add_position_ids() {
    positions_ =
        block_.graph().add_input("position_ids", {binding_.batch, binding_.seq_len}, DType::kInt64);
  }

  // Decoder only.
  TensorId with_positions(TensorId x) {
    if (is_relative()) return x;
    if (is_learned()) return with_learned_positions("decoder", decoder_, x);
    add_position_ids();
    return x;
  }

  // Each stack has a table of its own.
  TensorId with_learned_positions(const std::string& scope, const ModelConfig& stack, TensorId x) {
    if (stack.sine_positions) {
      const Shape shape{1, block_.shape(x)[1], stack.hidden};
      positions_ = block_.graph().add_input("position_sines", shape, DType::kFp32);
      block_.enter(scope);
      return block_.op("add_position", "Add", {x, positions_});
    }
    add_position_ids();
    block_.enter(scope);
    x = block_.op("add_position", "Add",
                  {x, block_.embedding("position", positions_, stack.positions, stack.hidden)});
    return stack.embedding_norm ? normalise("embedding.norm", x) : x;
  }

  // Inputs of other lengths are padded; sounds always fill their window.
  ScoreRule padding_rule(const std::string& mask, std::int64_t keys) {
    ScoreRule rule;
    if (!hears())
      rule = added_mask(block_.graph().add_input(mask, {binding_.batch, 1, 1, keys}, DType::kFp32));
    rule.scaled = !is_relative();  // T5 trains without
    return rule;
  }

  // The bias that all blocks of a stack add to their scores: [1, heads, queries, keys].
  TensorId distance_bias(const std::string& stack, std::int64_t queries, std::int64_t keys) {
    const TensorId buckets =
        block_.graph().add_input("distance_buckets", {queries, keys}, DType::kInt64);
    block_.enter(stack);
    const TensorId bias =
        block_.embedding("distance", buckets, decoder_.relative_buckets, decoder_.heads);
    const TensorId by_head =
        block_.op("distance.transpose", "Transpose", {bias}, {{"perm", Shape{2, 0, 1}}});
    return block_.op("distance.batch", "Reshape", {by_head},
                     {{"shape", Shape{1, decoder_.heads, queries, keys}}});
  }

  TensorId normalise(const std::string& name, TensorId x) {
    return block_.normalise(name, x, decoder_.norm);
  }

  // In front of a part of a block.
  TensorId before(const std::string& name, TensorId x) {
    return decoder_.post_norm ? x : normalise(name + ".norm", x);
  }

  // Of a stack.
  TensorId at_the_end(TensorId x) { return decoder_.post_norm ? x : normalise("norm", x); }

  TensorId project(const ModelConfig& stack, const std::string& name, TensorId x,
                   std::int64_t heads) {
    const bool bias = stack.qkv_bias && (stack.key_bias || !ends_with(name, ".key"));
    const TensorId y = block_.linear(name, x, heads * stack.head_dim, bias);
    return block_.split_heads(name, y, heads);
  }

  TensorId rotated(const std::string& name, TensorId x) {
    if (!is_rotary()) return x;
    return block_.op(name + ".rotate", "Rope", {x, positions_}, {{"dim", block_.shape(x).back()}});
  }

  // What a part gives, after its norm where there is one, and the stream that it read.
  TensorId added(const std::string& name, TensorId result, TensorId x) {
    if (decoder_.norm_after) result = normalise(name + ".norm_after", result);
    const TensorId sum = block_.op(name + ".residual", "Add", {result, x});
    return decoder_.post_norm ? normalise(name + ".norm", sum) : sum;
  }

  TensorId attention_output(const ModelConfig& stack, const std::string& name, TensorId context) {
    return block_.row_parallel_linear(name + ".output", context, stack.hidden,
                                      stack.attention_bias);
  }

  TensorId self_attention_block(const ModelConfig& stack, TensorId x, const ScoreRule& rule,
                                Phase phase) {
    const std::string name = "attention";
    const TensorId normed = before(name, x);
    const TensorId q =
        rotated("attention.query", project(stack, "attention.query", normed, stack.heads));
    TensorId k = rotated("attention.key", project(stack, "attention.key", normed, stack.kv_heads));
    TensorId v = project(stack, "attention.value", normed, stack.kv_heads);
    if (phase == Phase::kDecode) {
      const Cached cache = update_cache(&block_, name, k, v, binding_.kv_len);
      k = cache.keys;
      v = cache.values;
    }
    const TensorId context = attend(&block_, name, q, k, v, rule);
    return added(name, attention_output(stack, name, context), x);
  }

  TensorId cross_attention_block(TensorId x, const ScoreRule& rule) {
    const std::string name = "cross_attention";
    const TensorId q = project(decoder_, "cross_attention.query", before(name, x), decoder_.heads);
    const Shape shape{binding_.batch, decoder_.kv_heads, binding_.encoder_len, decoder_.head_dim};
    const TensorId k = block_.state("cross_attention.key_cache", shape);
    const TensorId v = block_.state("cross_attention.value_cache", shape);
    const TensorId context = attend(&block_, name, q, k, v, rule);
    return added(name, attention_output(decoder_, name, context), x);
  }

  TensorId feed_forward_block(const ModelConfig& stack, TensorId x) {
    return added("ffn", decoder_feed_forward(&block_, before("ffn", x), stack), x);
  }

  // T5 with a tied table scales the hidden states down first.
  TensorId logits(TensorId x) {
    block_.enter("head");
    if (!decoder_.tied_embeddings) return block_.linear("decoder", x, decoder_.vocab, false);
    if (is_relative()) {
      const double scale = 1.0 / std::sqrt(static_cast<double>(decoder_.hidden));
      x = block_.op("scale", "Mul", {x}, {{"scalar", scale}});
    }
    return block_.tied_logits(x, decoder_.vocab, decoder_.hidden);
  }

  const ModelConfig& encoder_;
  const ModelConfig& decoder_;
  const Binding& binding_;
  BlockBuilder block_;
  TensorId positions_ = kNoId;
};

// The sizes of the encoder in place of those of the decoder.
ModelConfig encoder_of(ModelConfig config) {
  const EncoderConfig& encoder = config.encoder;
  if (encoder.hidden == 0) return config;
  config.hidden = encoder.hidden;
  config.heads = encoder.heads;
  config.kv_heads = encoder.kv_heads;
  config.head_dim = encoder.head_dim;
  config.intermediate = encoder.intermediate;
  if (encoder.own_table) config.vocab = encoder.vocab;
  return config;
}

struct Shards {
  ModelConfig encoder;
  ModelConfig decoder;
};

Shards shards_of(const ModelConfig& config, int ranks) {
  return {shard_of(encoder_of(config), ranks), shard_of(config, ranks)};
}

}  // namespace

Graph build_encoder_prefill(const ModelConfig& config, const Binding& binding) {
  const Shards shards = shards_of(config, binding.tensor_parallel);
  return EncoderDecoderBuilder(shards.encoder, shards.decoder, binding).prefill();
}

Graph build_encoder_alone(const ModelConfig& config, const Binding& binding) {
  return EncoderDecoderBuilder(config, config, binding).encode();
}

Graph build_encoded_decode(const ModelConfig& config, const Binding& binding) {
  const Shards shards = shards_of(config, binding.tensor_parallel);
  return EncoderDecoderBuilder(shards.encoder, shards.decoder, binding).decode();
}

}  // namespace foretell
