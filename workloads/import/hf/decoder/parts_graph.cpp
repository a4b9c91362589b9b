#include "workloads/import/hf/decoder/parts_graph.hpp"

#include <algorithm>
#include <utility>

#include "model/base/errors.hpp"
#include "workloads/import/hf/decoder/context_parallel.hpp"
#include "workloads/import/hf/vision/image_prompt.hpp"

namespace foretell {

std::int64_t PartsContext::batch() const {
  const std::int64_t groups = binding->attention_data_parallel;
  return (binding->batch + groups - 1) / groups;
}

bool PartsContext::reads_cache() const {
  return binding->phase == Phase::kDecode || binding->context > 0;
}

TensorId PartsContext::linear(const std::string& name, TensorId x, std::int64_t out, bool bias,
                              bool is_kept) const {
  const std::int64_t in = block->shape(x).back();
  const TensorId y = block->linear(name, x, out, bias);
  if (is_kept) block->graph().keep(block->weight(name + ".weight", {in, out}));
  return y;
}

TensorId PartsContext::row_linear(const std::string& name, TensorId x, std::int64_t out,
                                  bool bias) const {
  return block->row_parallel_linear(name, x, out, bias);
}

TensorId PartsContext::joined(const std::string& name, TensorId a, TensorId b,
                              std::int64_t axis) const {
  return block->op(name, "Concat", {a, b}, {{"axis", axis}});
}

TensorId PartsContext::split(const std::string& name, TensorId x, const Shape& sizes) const {
  return block->op(name, "Split", {x}, {{"axis", std::int64_t{-1}}, {"sizes", sizes}});
}

TensorId PartsContext::reshaped(const std::string& name, TensorId x, const Shape& shape) const {
  return block->op(name, "Reshape", {x}, {{"shape", shape}});
}

TensorId PartsContext::norm(const std::string& name, TensorId x) const {
  return block->normalise(name, x, config->norm);
}

TensorId PartsContext::rotated(const std::string& name, TensorId x, std::int64_t columns) const {
  if (columns == 0) return x;
  return block->op(name, "Rope", {x, positions}, {{"dim", columns}});
}

TensorId PartsContext::cached(const std::string& name, TensorId fresh, std::int64_t rows) const {
  Shape shape = block->shape(fresh);
  if (shape[2] > rows) {  // of a window, the last rows are what later tokens see
    fresh = block->op(name + ".last", "Slice", {fresh},
                      {{"axis", std::int64_t{2}}, {"begin", shape[2] - rows}, {"end", shape[2]}});
  }
  shape[2] = rows;
  const TensorId updated =
      block->op(name + ".update", "UpdateCache", {block->state(name, shape), fresh});
  block->graph().mark_state(updated);
  return updated;
}

TensorId PartsContext::own_state(const std::string& name, const Shape& shape, DType type) const {
  const TensorId id = block->state(name, shape);
  block->graph().set_dtype(id, type);
  block->graph().keep(id);
  return id;
}

TensorId PartsContext::gated(const std::string& name, TensorId result, TensorId x,
                             const MixerPart& part) const {
  if (part.gate_columns == 0) return result;
  const TensorId gate =
      block->op(name + ".gate.sigmoid", "Sigmoid",
                {linear(name + ".gate", x, part.heads * part.gate_columns, false)});
  const Shape shape = block->shape(result);
  if (part.gate_columns == part.value_dim) return block->op(name + ".gated", "Mul", {result, gate});
  const Shape heads{shape[0], shape[1], part.heads, shape[2] / part.heads};
  const TensorId wide =
      block->op(name + ".gated", "Mul",
                {reshaped(name + ".heads", result, heads),
                 reshaped(name + ".gate.column", gate, {shape[0], shape[1], part.heads, 1})});
  return reshaped(name + ".columns", wide, shape);
}

TensorId PartsContext::adapted(const std::string& name, TensorId x, TensorId y,
                               std::int64_t rank) const {
  if (rank == 0) return y;
  const TensorId low = linear(name + ".adapter_a" + adapter, x, rank, false, true);
  const std::int64_t columns = block->shape(y).back();
  return block->op(name + ".adapted", "Add",
                   {y, linear(name + ".adapter_b" + adapter, low, columns, false, true)});
}

namespace {

class PartsBuilder {
 public:
  PartsBuilder(const ModelConfig& config, const Binding& binding)
      : config_(config), parts_(config.parts_of_decoder), binding_(binding), block_(config.name) {
    block_.set_ranks(binding.tensor_parallel);
    block_.store_as(config.checkpoint);
    if (binding.sequence_parallel) block_.spread_tokens(binding.seq_len);
    context_.block = &block_;
    context_.config = &config_;
    context_.binding = &binding_;
  }

  Graph build() {
    const Shape tokens{context_.batch(), binding_.seq_len};
    const bool learned = config_.position_kind == Positions::kLearned;
    context_.positions = block_.graph().add_input(
        "position_ids",
        learned ? Shape{tokens[0], block_.share_of(tokens[1])} : tokens,  // else heads are rotated
        DType::kInt64);
    TensorId x = binding_.first_layer == 0 ? embeddings(tokens) : hidden_states();
    const std::int64_t last =
        binding_.last_layer == kLastLayer ? config_.layers - 1 : binding_.last_layer;
    if (binding_.first_layer > 0 && parts_.per_layer_columns > 0) {  // made by the first stage
      const std::int64_t columns = parts_.per_layer_columns * (last - binding_.first_layer + 1);
      per_layer_ =
          block_.graph().add_input("per_layer", {tokens[0], tokens[1], columns}, DType::kFp32);
    }
    for (std::int64_t i = binding_.first_layer; i <= last; ++i) {
      const std::string scope = "decoder." + std::to_string(i);
      block_.enter(scope, scope, static_cast<std::int32_t>(i));
      number_ = i;
      x = layer(x, parts_.layers[static_cast<std::size_t>(i)]);
    }
    x = joined_aside(x);
    block_.graph().mark_output(last == config_.layers - 1 ? head(x) : x);
    return std::move(block_.graph());
  }

  Graph build_attention(std::size_t layer) {
    const Shape tokens{context_.batch(), binding_.seq_len};
    context_.positions = block_.graph().add_input("position_ids", tokens, DType::kInt64);
    const TensorId x = hidden_states();
    const std::string scope = "decoder." + std::to_string(layer);
    block_.enter(scope, scope, static_cast<std::int32_t>(layer));
    block_.graph().mark_output(mix_tokens(context_, x, parts_.layers.at(layer).mixer));
    return std::move(block_.graph());
  }

 private:
  TensorId hidden_states() {
    return block_.graph().add_input("hidden_states",
                                    {context_.batch(), block_.share_of(binding_.seq_len),
                                     config_.hidden * parts_.streams * parts_.predictions},
                                    DType::kFp32);
  }

  TensorId embeddings(const Shape& tokens) {
    const TensorId ids = block_.graph().add_input("input_ids", tokens, DType::kInt64);
    block_.enter("embeddings");
    TensorId x = block_.sum_over_ranks(
        "word",
        block_.embedding("word", ids, config_.vocab + parts_.more_words, config_.embedding));
    if (config_.embedding != config_.hidden)
      x = context_.linear("projection", x, config_.hidden, false, true);
    if (config_.position_kind == Positions::kLearned) {
      x = block_.op(
          "add_position", "Add",
          {x, block_.embedding("position", context_.positions, config_.positions, config_.hidden)});
    }
    x = with_images(x);
    if (parts_.per_layer_columns > 0) per_layer_ = per_layer_inputs(ids, x);
    embeddings_ = x;
    if (parts_.predictions > 1) return spread_predictions(context_, x);
    if (parts_.streams == 1) return x;
    Shape wide = block_.shape(x);
    wide[2] *= parts_.streams;
    return block_.op("streams", "Move", {x}, {{"function", std::string("Tile")}, {"shape", wide}});
  }

  // The tower is loaded beside the decoder, and not read by a call without images; their tokens
  // take the places that the prompt keeps for them.
  TensorId with_images(TensorId x) {
    const std::int64_t count = parameters_of(parts_.tower);
    if (count == 0) return x;
    if (binding_.images == 0) {
      block_.graph().add_weight(parts_.tower.name, {count}, DType::kFp32);
      return x;
    }
    const Shape shape = block_.shape(x);
    const PatchedImage image =
        patched_image(parts_.tower, binding_.image_size, binding_.image_width);
    const bool spread = binding_.sequence_parallel;
    const TensorId tokens = image_tokens(&block_, parts_.tower, shape[0] * binding_.images, image,
                                         spread ? 1 : binding_.tensor_parallel, config_.layers);
    block_.enter("embeddings");
    return block_.op("images", "Move", {x, tokens},
                     {{"function", std::string("Scatter")}, {"shape", shape}});
  }

  // A second table with columns for every layer, and a projection of the first.
  TensorId per_layer_inputs(TensorId ids, TensorId x) {
    const std::int64_t columns = parts_.per_layer_columns * config_.layers;
    const TensorId table = block_.embedding("per_layer", ids, parts_.per_layer_vocab, columns);
    TensorId made = context_.linear("per_layer_projection", x, columns, false, true);
    if (parts_.predictions > 1) made = normalised_by_layer(made);
    return block_.op("per_layer_sum", "Add", {made, table});
  }

  // Each layer's columns for themselves.
  TensorId normalised_by_layer(TensorId x) {
    const Shape shape = block_.shape(x);
    const TensorId rows =
        context_.reshaped("per_layer_projection.rows", x,
                          {shape[0], shape[1], config_.layers, parts_.per_layer_columns});
    return context_.reshaped("per_layer_projection.columns",
                             context_.norm("per_layer_projection.norm", rows), shape);
  }

  // The weights of a layer that calls without images skip.
  TensorId skipped(TensorId x, const LayerPart& part) {
    const MixerPart& mixer = part.mixer;
    const std::int64_t hidden = config_.hidden;
    const std::int64_t heads = 2 * mixer.heads + 2 * mixer.kv_heads;
    constexpr std::int64_t kGates = 2;  // one for each of its two results
    block_.weight("skipped.norms", {2 * hidden + 2 * mixer.head_dim + kGates});
    block_.weight("skipped.matrices",
                  {hidden, heads * mixer.head_dim + 3 * part.feed_forward.intermediate});
    return x;
  }

  TensorId joined_aside(TensorId x) {
    if (aside_ == kNoId) return x;
    return block_.op("aside.residual", "Add", {std::exchange(aside_, kNoId), x});
  }

  TensorId layer(TensorId x, const LayerPart& part) {
    if (parts_.streams > 1) return layer_of_streams(x, part);
    if (part.mixer.reads_images) return skipped(x, part);
    if (parts_.predictions > 1) return layer_of_predictions(context_, x, part, own_columns());
    switch (part.form) {
      case LayerForm::kPreNorm:
      case LayerForm::kLastNorm:
      case LayerForm::kSandwich:
      case LayerForm::kPostNorm:
        return sequential_layer(x, part);
      case LayerForm::kParallel: {
        const TensorId first = normed("attention.norm", x);
        const TensorId mixed = mix_tokens(context_, first, part.mixer);
        const TensorId fed = feed_forward(context_, first, part.feed_forward);
        const TensorId both = block_.op("attention.residual", "Add", {mixed, fed});
        return block_.op("ffn.residual", "Add", {both, x});
      }
      case LayerForm::kSingle: {
        const TensorId first = normed("norm", with_shared_block(x, part));
        const bool mixes = part.mixer.kind != MixerKind::kNone;
        if (!mixes && part.feed_forward.kind == FeedForwardKind::kNone) return x;
        const TensorId result = mixes ? mix_tokens(context_, first, part.mixer)
                                      : feed_forward(context_, first, part.feed_forward);
        return block_.op("residual", "Add", {result, x});
      }
    }
    throw InternalError(__FILE__, __LINE__, "layer without a builder");
  }

  TensorId normed(const std::string& name, TensorId x) {
    return block_.all_tokens(name, context_.norm(name, x));
  }

  TensorId with_shared_block(TensorId x, const LayerPart& part) {
    if (part.shared.weights < 0) return x;
    if (embeddings_ == kNoId) {  // of an earlier stage of the pipeline
      embeddings_ = block_.graph().add_input("embeddings", block_.shape(x), DType::kFp32);
    }
    return block_.op("shared.residual", "Add",
                     {shared_block(context_, x, embeddings_, part.shared, number_), x});
  }

  TensorId sequential_layer(TensorId x, const LayerPart& part) {
    const bool last = part.form == LayerForm::kLastNorm;
    const bool before = part.form != LayerForm::kPostNorm && !last;
    const bool norm_after = part.form != LayerForm::kPreNorm && !last;
    const TensorId of_experts =
        part.feed_forward.reads_layer_input ? normed("ffn.experts.norm", x) : kNoId;
    if (part.mixer.kind != MixerKind::kNone) {
      const TensorId in =
          before ? normed("attention.norm", x) : block_.all_tokens("attention.input", x);
      TensorId y = mix_tokens(context_, in, part.mixer);
      if (part.beside.kind != MixerKind::kNone)
        y = block_.op("mixer.sum", "Add", {y, mix_tokens(context_, in, part.beside)});
      if (norm_after) y = context_.norm("attention.norm_after", y);
      x = block_.op("attention.residual", "Add", {y, x});
      if (last) x = context_.norm("attention.norm", x);
    }
    if (part.feed_forward.kind == FeedForwardKind::kNone) return x;
    const TensorId in = before ? normed("ffn.norm", x) : block_.all_tokens("ffn.input", x);
    if (part.aside.kind != FeedForwardKind::kNone) {
      x = joined_aside(x);
      aside_ = feed_forward(context_, in, part.aside);
    }
    TensorId y = feed_forward(context_, in, part.feed_forward, of_experts);
    if (norm_after) y = context_.norm("ffn.norm_after", y);
    x = block_.op("ffn.residual", "Add", {y, x});
    if (last) x = context_.norm("ffn.norm", x);
    if (part.joins_aside) x = joined_aside(x);
    return parts_.per_layer_columns > 0 ? with_own_input(x) : x;
  }

  TensorId own_columns() {
    if (per_layer_ == kNoId) return kNoId;
    const std::int64_t columns = parts_.per_layer_columns;
    const std::int64_t first = own_++ * columns;
    return block_.op("own.columns", "Slice", {per_layer_},
                     {{"axis", std::int64_t{2}}, {"begin", first}, {"end", first + columns}});
  }

  // The columns that belong to this layer, gated by x.
  TensorId with_own_input(TensorId x) {
    const TensorId own = own_columns();
    if (own == kNoId) return x;
    const std::int64_t columns = parts_.per_layer_columns;
    const TensorId gate =
        block_.op("own.gelu", "Gelu", {context_.linear("own.gate", x, columns, false, true)},
                  {{"approximate", std::string("tanh")}});
    const TensorId wide = context_.linear(
        "own.projection", block_.op("own.gated", "Mul", {gate, own}), config_.hidden, false, true);
    return block_.op("own.residual", "Add", {context_.norm("own.norm", wide), x});
  }

  // Several residual streams: what a part reads is a weighted sum of them, and what it gives is
  // spread over them; the weights are made from all streams of the token.
  TensorId layer_of_streams(TensorId x, const LayerPart& part) {
    x = through_streams("attention", x,
                        [&](TensorId first) { return mix_tokens(context_, first, part.mixer); });
    return through_streams(
        "ffn", x, [&](TensorId first) { return feed_forward(context_, first, part.feed_forward); });
  }

  template <typename Part>
  TensorId through_streams(const std::string& name, TensorId x, const Part& part) {
    const std::int64_t n = parts_.streams;
    const Shape wide = block_.shape(x);
    const TensorId weights = context_.linear(name + ".streams", x, n * (n + 2), false, true);
    const TensorId one = block_.op(name + ".merge_streams", "Move", {x, weights},
                                   {{"function", std::string("WeightedSum")},
                                    {"shape", Shape{wide[0], wide[1], config_.hidden}}});
    const TensorId result = part(normed(name + ".norm", one));
    return block_.op(name + ".spread_streams", "Move", {x, result, weights},
                     {{"function", std::string("WeightedSum")}, {"shape", wide}});
  }

  TensorId head(TensorId x) {
    block_.enter("decoder");
    const bool scores = config_.head == Head::kSequence;
    if ((scores || binding_.phase == Phase::kPrefill) && binding_.seq_len > 1)
      x = block_.last_token(x, binding_.seq_len);
    if (parts_.streams > 1) {
      const Shape wide = block_.shape(x);
      x = block_.op("merge_streams", "Move", {x},
                    {{"function", std::string("WeightedSum")},
                     {"shape", Shape{wide[0], wide[1], config_.hidden}}});
    }
    if (parts_.predictions > 1) x = merged_predictions(context_, x);
    if (parts_.layers.back().form != LayerForm::kLastNorm) x = context_.norm("norm", x);
    if (config_.embedding != config_.hidden)
      x = context_.linear("projection", x, config_.embedding, false, true);
    if (scores) return context_.linear("score", x, config_.labels, false, true);
    if (binding_.phase == Phase::kForward && config_.head == Head::kNone) return x;
    return binding_.gather_logits ? block_.all_columns("logits", logits(x)) : logits(x);
  }

  TensorId logits(TensorId x) {
    block_.enter("head");
    if (!config_.tied_embeddings)
      return context_.linear("decoder", x, config_.vocab, config_.head_bias);
    return block_.tied_logits(x, config_.vocab, config_.embedding);
  }

  const ModelConfig& config_;
  const DecoderParts& parts_;
  const Binding& binding_;
  BlockBuilder block_;
  PartsContext context_;
  TensorId per_layer_ = kNoId;
  TensorId embeddings_ = kNoId;
  TensorId aside_ = kNoId;
  std::int64_t own_ = 0;
  std::int64_t number_ = 0;  // of the layer
};

}  // namespace

Graph build_from_parts(const ModelConfig& config, const Binding& binding) {
  const ModelConfig shard = shard_of_parts(config, binding);
  const Binding own = share_of_rank(binding);
  return PartsBuilder(shard, own).build();
}

Graph build_attention_block(const ModelConfig& config, const Binding& binding, std::size_t layer) {
  return PartsBuilder(config, binding).build_attention(layer);
}

}  // namespace foretell
