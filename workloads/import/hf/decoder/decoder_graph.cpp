#include "workloads/import/hf/decoder/decoder_graph.hpp"

#include "workloads/import/hf/attention.hpp"
#include "workloads/import/hf/block_builder.hpp"
#include "workloads/import/hf/decoder/context_parallel.hpp"
#include "workloads/import/hf/decoder/parts_graph.hpp"
#include "workloads/import/hf/decoder/shard.hpp"

namespace foretell {
namespace {

struct Projections {
  TensorId q;
  TensorId k;
  TensorId v;
};

class DecoderBuilder {
 public:
  DecoderBuilder(const ModelConfig& config, const Binding& binding)
      : config_(config), binding_(binding), block_(config.name) {
    block_.set_ranks(binding.tensor_parallel);
    block_.store_as(config.checkpoint);
    if (binding.sequence_parallel) block_.spread_tokens(binding.seq_len);
  }

  Graph build() {
    TensorId x = binding_.first_layer == 0 ? embeddings() : hidden_states();
    const std::int64_t last =
        binding_.last_layer == kLastLayer ? config_.layers - 1 : binding_.last_layer;
    for (std::int64_t i = binding_.first_layer; i <= last; ++i) {
      const std::string scope = "decoder." + std::to_string(i);
      block_.enter(scope, scope, static_cast<std::int32_t>(i));
      x = layer(x);
    }
    block_.graph().mark_output(last == config_.layers - 1 ? head(x) : x);
    return std::move(block_.graph());
  }

 private:
  // What the stage before has made.
  TensorId hidden_states() {
    const Shape tokens{binding_.batch, binding_.seq_len};
    if (config_.position_kind == Positions::kRotary) {
      positions_ = block_.graph().add_input("position_ids", tokens, DType::kInt64);
    }
    return block_.graph().add_input(
        "hidden_states", {binding_.batch, block_.share_of(binding_.seq_len), config_.hidden},
        DType::kFp32);
  }

  TensorId embeddings() {
    const Shape all{binding_.batch, binding_.seq_len};
    const Shape tokens{binding_.batch, block_.share_of(binding_.seq_len)};
    const TensorId ids = block_.graph().add_input("input_ids", all, DType::kInt64);
    if (config_.position_kind != Positions::kAlibi) {  // heads are rotated with all tokens
      const bool rotary = config_.position_kind == Positions::kRotary;
      positions_ = block_.graph().add_input("position_ids", rotary ? all : tokens, DType::kInt64);
    }
    block_.enter("embeddings");
    // Each core has the rows of its share of the vocabulary, and zeros for the other tokens.
    TensorId x =
        block_.sum_over_ranks("word", block_.embedding("word", ids, config_.vocab, config_.hidden));
    if (config_.position_kind == Positions::kLearned) {
      const TensorId places =
          block_.embedding("position", positions_, config_.positions, config_.hidden);
      x = block_.op("add_position", "Add", {x, places});
    }
    return config_.embedding_norm ? block_.normalise("norm", x, config_.norm) : x;
  }

  // The normalised x of all tokens: what attention and feed-forward network start with.
  TensorId normed(const std::string& name, TensorId x) {
    return block_.all_tokens(name, block_.normalise(name, x, config_.norm));
  }

  TensorId layer(TensorId x) {
    const TensorId first = normed("attention.norm", x);
    const TensorId attended = attention(first);
    if (config_.block_form == BlockForm::kSequential) {
      const TensorId middle = block_.op("attention.residual", "Add", {attended, x});
      const TensorId fed = decoder_feed_forward(&block_, normed("ffn.norm", middle), config_);
      return block_.op("ffn.residual", "Add", {fed, middle});
    }
    const bool one_norm = config_.block_form == BlockForm::kParallelOneNorm;
    const TensorId fed =
        decoder_feed_forward(&block_, one_norm ? first : normed("ffn.norm", x), config_);
    const TensorId both = block_.op("attention.residual", "Add", {attended, fed});
    return block_.op("ffn.residual", "Add", {both, x});
  }

  TensorId attention(TensorId x) {
    Projections now = config_.fused_qkv ? fused_projections(x) : separate_projections(x);
    if (config_.qk_norm) {
      now.q = block_.normalise("attention.query.norm", now.q, config_.norm);
      now.k = block_.normalise("attention.key.norm", now.k, config_.norm);
    }
    if (config_.position_kind == Positions::kRotary) {
      now.q = rotated("attention.query.rotate", now.q);
      now.k = rotated("attention.key.rotate", now.k);
    }
    if (binding_.phase != Phase::kForward) {
      const Cached cache = update_cache(&block_, "attention", now.k, now.v, binding_.kv_len);
      if (binding_.phase == Phase::kDecode) {
        now.k = cache.keys;
        now.v = cache.values;
      }
    }
    const TensorId context = binding_.context_parallel > 1
                                 ? attend_over_ranks(block_, binding_, own_attention(now))
                                 : attend(&block_, "attention", now.q, now.k, now.v, score_rule());
    return block_.row_parallel_linear("attention.output", context, config_.hidden,
                                      config_.attention_bias);
  }

  RankAttention own_attention(const Projections& now) const {
    RankAttention own{now.q, now.k, now.v, config_.window, {}, {}};
    if (config_.window > 0) own.attributes["window"] = config_.window;
    return own;
  }

  ScoreRule score_rule() const {
    ScoreRule rule;
    rule.mask = MaskKind::kCausal;
    rule.offset = binding_.phase == Phase::kDecode ? binding_.kv_len - binding_.seq_len : 0;
    rule.window = config_.window;
    rule.alibi = config_.position_kind == Positions::kAlibi;
    return rule;
  }

  Projections separate_projections(TensorId x) {
    const auto project = [&](const std::string& name, std::int64_t heads) {
      const TensorId y = block_.linear(name, x, heads * config_.head_dim, config_.qkv_bias);
      return block_.split_heads(name, y, heads);
    };
    return {project("attention.query", config_.heads), project("attention.key", config_.kv_heads),
            project("attention.value", config_.kv_heads)};
  }

  Projections fused_projections(TensorId x) {
    const std::int64_t queries = config_.heads * config_.head_dim;
    const std::int64_t keys = config_.kv_heads * config_.head_dim;
    const TensorId qkv = block_.linear("attention.qkv", x, queries + 2 * keys, config_.qkv_bias);
    const TensorId first =
        block_.op("attention.split", "Split", {qkv},
                  {{"axis", std::int64_t{-1}}, {"sizes", Shape{queries, keys, keys}}});
    return {block_.split_heads("attention.query", first, config_.heads),
            block_.split_heads("attention.key", first + 1, config_.kv_heads),
            block_.split_heads("attention.value", first + 2, config_.kv_heads)};
  }

  TensorId rotated(const std::string& name, TensorId x) {
    return block_.op(name, "Rope", {x, positions_}, {{"dim", config_.rotary_dim}});
  }

  // Generating tokens needs logits, even of a config.json that names the plain model.
  TensorId head(TensorId x) {
    block_.enter("decoder");
    const bool scores = config_.head == Head::kSequence;
    if ((scores || binding_.phase == Phase::kPrefill) && binding_.seq_len > 1)
      x = block_.last_token(x, binding_.seq_len);
    x = block_.normalise("norm", x, config_.norm);
    if (scores) return block_.linear("score", x, config_.labels, false);
    if (binding_.phase == Phase::kForward && config_.head == Head::kNone) return x;
    return binding_.gather_logits ? block_.all_columns("logits", logits(x)) : logits(x);
  }

  TensorId logits(TensorId x) {
    block_.enter("head");
    if (!config_.tied_embeddings)
      return block_.linear("decoder", x, config_.vocab, config_.head_bias);
    return block_.tied_logits(x, config_.vocab, config_.hidden);
  }

  const ModelConfig& config_;
  const Binding& binding_;
  BlockBuilder block_;
  TensorId positions_ = kNoId;
};

}  // namespace

TensorId decoder_feed_forward(BlockBuilder* block, TensorId x, const ModelConfig& config) {
  const bool bias = config.ffn_bias;
  if (!config.gated_ffn) {
    const TensorId wide = block->linear("ffn.intermediate", x, config.intermediate, bias);
    const TensorId active = block->activation("ffn.activation", wide, config.activation);
    return block->row_parallel_linear("ffn.output", active, config.hidden, bias);
  }
  const TensorId gate = block->linear("ffn.gate", x, config.intermediate, bias);
  const TensorId active = block->activation("ffn.activation", gate, config.activation);
  const TensorId up = block->linear("ffn.up", x, config.intermediate, bias);
  return block->row_parallel_linear("ffn.output", block->op("ffn.gated", "Mul", {active, up}),
                                    config.hidden, bias);
}

Graph build_decoder(const ModelConfig& config, const Binding& binding) {
  if (binding.context_parallel > 1) check_context_parallel(config);
  if (!config.parts_of_decoder.empty()) return build_from_parts(config, binding);
  const ModelConfig shard = shard_of(config, binding.tensor_parallel);
  const Binding own = share_of_rank(binding);
  return DecoderBuilder(shard, own).build();
}

}  // namespace foretell
