#include "workloads/import/hf/encoder/encoder_graph.hpp"

#include <string>
#include <string_view>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "workloads/import/hf/attention.hpp"
#include "workloads/import/hf/block_builder.hpp"
#include "workloads/import/hf/vision/tower.hpp"

namespace foretell {
namespace {

struct EncoderInputs {
  TensorId ids = kNoId;
  TensorId token_types = kNoId;
  TensorId positions = kNoId;
  TensorId mask = kNoId;
  TensorId distances = kNoId;  // of MPNet buckets, of DeBERTa rows of its table: [S, S]
  TensorId bias = kNoId;       // that all layers add to their scores
  TensorId places = kNoId;     // DeBERTa's table
  std::string routing;         // of tokens to experts, as Binding has it
};

// Feed-forward network: two linear layers with an activation between, and a gate or none.
TensorId feed_forward(BlockBuilder* block, TensorId x, const ModelConfig& config) {
  const bool biased = config.ffn_bias && config.ffn_input_bias;
  const TensorId wide = block->linear("ffn.intermediate", x, config.intermediate, biased);
  TensorId active = block->activation("ffn.activation", wide, config.activation);
  if (config.gated_ffn) {
    const TensorId up = block->linear("ffn.up", x, config.intermediate, biased);
    active = block->op("ffn.gated", "Mul", {active, up});
  }
  return block->linear("ffn.output", active, config.hidden, config.ffn_bias);
}

// Experts without biases, and one bias on their sum (nomic-embed v2).
TensorId experts(BlockBuilder* block, TensorId x, const std::string& routing,
                 const ModelConfig& config) {
  const TensorId scores = block->linear("ffn.router", x, config.experts, false);
  const TensorId weights = block->op("ffn.route", "Route", {scores},
                                     {{"k", config.experts_per_token},
                                      {"function", std::string("softmax")},
                                      {"groups", std::int64_t{1}},
                                      {"top_groups", std::int64_t{1}}});
  const TensorId sum =
      block->op("ffn.experts", "Experts",
                {x, weights, weights + 1,
                 block->weight("ffn.experts.first.weight",
                               {config.experts, config.hidden, config.intermediate}),
                 block->weight("ffn.experts.second.weight",
                               {config.experts, config.intermediate, config.hidden})},
                {{"experts", config.experts},
                 {"gated", std::int64_t{0}},
                 {"activation", std::string("gelu")},
                 {"routing", routing}});
  return block->op("ffn.experts.add_bias", "Add",
                   {sum, block->weight("ffn.experts.bias", {config.hidden})});
}

// What DeBERTa adds to scores: queries times keys of places, and keys times queries of places. Of
// the scores of all places of its table each pair of tokens takes one.
TensorId place_scores(BlockBuilder* block, const EncoderInputs& inputs, TensorId q, TensorId k,
                      const ModelConfig& config) {
  const DisentangledConfig& form = config.disentangled;
  const Shape in = block->shape(q);
  const Shape pairs{in[0], in[1], in[2], in[2]};
  const auto places = [&](const std::string& what, bool biased = true) {
    const std::string name = "attention.place_" + what;
    const std::string weights = form.shares_projections ? "attention." + what : name;
    const TensorId made = block->op(
        name, "MatMul",
        {inputs.places, block->weight(weights + ".weight", {config.hidden, config.hidden})});
    if (!biased) return block->split_heads(name, made, config.heads);
    return block->split_heads(name,
                              block->op(name + ".add_bias", "Add",
                                        {made, block->weight(weights + ".bias", {config.hidden})}),
                              config.heads);
  };
  const auto chosen = [&](const std::string& name, TensorId words, TensorId of_places) {
    const TensorId all =
        block->op(name, "MatMul", {words, of_places}, {{"transpose_b", std::int64_t{1}}});
    return block->op(name + ".choose", "Move", {all, inputs.distances},
                     {{"function", std::string("GatherElements")}, {"shape", pairs}});
  };
  TensorId sum = kNoId;
  if (form.word_to_place)
    sum = chosen("attention.word_to_place", q, places("key", config.key_bias));
  if (form.place_to_word) {
    const TensorId turned = block->op("attention.place_to_word.turn", "Transpose",
                                      {chosen("attention.place_to_word", k, places("query"))},
                                      {{"perm", Shape{0, 1, 3, 2}}});
    sum = sum == kNoId ? turned : block->op("attention.places", "Add", {sum, turned});
  }
  return sum;
}

// A convolution over the embeddings beside the first layer (DeBERTa v2 xlarge).
TensorId with_convolution(BlockBuilder* block, TensorId x, TensorId embedded,
                          const ModelConfig& config) {
  const DisentangledConfig& form = config.disentangled;
  const Shape in = block->shape(embedded);
  block->enter("encoder.conv");
  const TensorId turned = block->op("turn", "Transpose", {embedded}, {{"perm", Shape{0, 2, 1}}});
  const TensorId image =
      block->op("image", "Reshape", {turned}, {{"shape", Shape{in[0], in[2], in[1], 1}}});
  const TensorId filters =
      block->weight("weight", {in[2], in[2], form.conv_kernel, std::int64_t{1}});
  const std::int64_t before = (form.conv_kernel - 1) / 2;
  const TensorId made = block->activation(
      "activation",
      block->op(
          "filters", "Conv", {image, filters, block->weight("bias", {in[2]})},
          {{"strides", Shape{1, 1}}, {"pads", Shape{before, 0, form.conv_kernel - 1 - before, 0}}}),
      form.conv_activation);
  return block->layer_norm(
      "norm", block->op("residual", "Add", {pixels_to_tokens(block, "filters", made), x}));
}

TensorId encoder_layer(BlockBuilder* block, TensorId x, const EncoderInputs& inputs,
                       const ModelConfig& config, std::int64_t layer) {
  const auto project = [&](const std::string& name, bool biased = true) {
    return block->split_heads(
        name, block->linear(name, x, config.hidden, config.qkv_bias && biased), config.heads);
  };
  const auto of_scores = [&](const std::string& name, bool biased = true) {
    if (!config.qk_norm) return project(name, biased);
    const TensorId y = block->linear(name, x, config.hidden, config.qkv_bias && biased);
    return block->split_heads(name, block->layer_norm(name + ".norm", y), config.heads);
  };
  const auto rotated = [&](const std::string& name, TensorId heads) {
    if (config.position_kind != Positions::kRotary) return heads;
    return block->op(name + ".rotate", "Rope", {heads, inputs.positions},
                     {{"dim", config.rotary_dim}});
  };
  const TensorId q = rotated("attention.query", of_scores("attention.query"));
  const TensorId k = rotated("attention.key", of_scores("attention.key", config.key_bias));
  const TensorId v = project("attention.value");
  ScoreRule rule = added_mask(inputs.mask);
  rule.alibi = config.position_kind == Positions::kAlibi;
  rule.bias = inputs.places == kNoId ? inputs.bias : place_scores(block, inputs, q, k, config);
  const TensorId context = attend(block, "attention", q, k, v, rule);
  const TensorId attended =
      block->linear("attention.output", context, config.hidden, config.attention_bias);
  const TensorId middle =
      block->layer_norm("attention.norm", block->op("attention.residual", "Add", {attended, x}));
  const std::int64_t every = config.experts_every;
  const TensorId fed = every > 0 && (layer + 1) % every == 0
                           ? experts(block, middle, inputs.routing, config)
                           : feed_forward(block, middle, config);
  return block->layer_norm("ffn.norm", block->op("ffn.residual", "Add", {fed, middle}));
}

EncoderInputs add_encoder_inputs(Graph* graph, const ModelConfig& config, const Binding& binding) {
  const Shape tokens{binding.batch, binding.seq_len};
  EncoderInputs inputs;
  inputs.routing = binding.routing;
  inputs.ids = graph->add_input("input_ids", tokens, DType::kInt64);
  if (config.token_types > 1)
    inputs.token_types = graph->add_input("token_type_ids", tokens, DType::kInt64);
  if (config.positions > 0 || config.position_kind == Positions::kRotary)
    inputs.positions = graph->add_input("position_ids", tokens, DType::kInt64);
  if (config.relative_buckets > 0 || config.disentangled.places > 0) {
    inputs.distances =
        graph->add_input("distances", {binding.seq_len, binding.seq_len}, DType::kInt64);
  }
  inputs.mask =
      graph->add_input("attention_mask", {binding.batch, 1, 1, binding.seq_len}, DType::kFp32);
  return inputs;
}

TensorId encoder_embeddings(BlockBuilder* block, const EncoderInputs& inputs,
                            const ModelConfig& config) {
  block->enter("embeddings");
  const std::int64_t width = config.embedding;
  TensorId x = block->embedding("word", inputs.ids, config.vocab, width);
  if (inputs.token_types != kNoId) {
    const TensorId types =
        block->embedding("token_type", inputs.token_types, config.token_types, width);
    x = block->op("add_token_type", "Add", {x, types});
  } else if (config.token_types == 1) {  // every token has the only type there is
    x = block->op("add_token_type", "Add", {x, block->weight("token_type.weight", {1, width})});
  }
  if (config.position_kind == Positions::kLearned && config.positions > 0) {
    const TensorId positions =
        block->embedding("position", inputs.positions, config.positions, width);
    x = block->op("add_position", "Add", {x, positions});
  }
  x = block->layer_norm("norm", x);
  return width == config.hidden ? x : block->linear("projection", x, config.hidden);
}

// What layers read of the distances between tokens.
void add_distances(BlockBuilder* block, const ModelConfig& config, EncoderInputs* inputs) {
  block->enter("encoder");
  if (config.disentangled.places > 0) {
    inputs->places = block->weight("places.weight", {1, config.disentangled.places, config.hidden});
    if (config.disentangled.norm) inputs->places = block->layer_norm("places.norm", inputs->places);
  }
  if (config.relative_buckets == 0) return;
  const TensorId rows =
      block->embedding("distance", inputs->distances, config.relative_buckets, config.heads);
  const Shape shape = block->shape(rows);
  const TensorId by_head =
      block->op("distance.transpose", "Transpose", {rows}, {{"perm", Shape{2, 0, 1}}});
  inputs->bias = block->op("distance.batch", "Reshape", {by_head},
                           {{"shape", Shape{1, config.heads, shape[0], shape[1]}}});
}

TensorId first_token(BlockBuilder* block, TensorId x) {
  const Shape shape = block->shape(x);
  const TensorId first =
      block->op("first_token", "Slice", {x},
                {{"axis", std::int64_t{1}}, {"begin", std::int64_t{0}}, {"end", std::int64_t{1}}});
  return block->op("first_token.squeeze", "Reshape", {first},
                   {{"shape", Shape{shape[0], shape[2]}}});
}

// Logits over the vocabulary: x [.., embedding] times the transposed word table.
TensorId vocabulary_logits(BlockBuilder* block, TensorId x, const ModelConfig& config) {
  const Shape table_shape{config.vocab, config.embedding};
  if (config.tied_embeddings) block->enter("head", "embeddings", kNoId);
  const TensorId table =
      block->weight(config.tied_embeddings ? "word.weight" : "decoder.weight", table_shape);
  block->enter("head");
  return block->times_table("decoder", x, table);
}

TensorId masked_lm_head(BlockBuilder* block, TensorId x, const ModelConfig& config) {
  const TensorId dense = block->linear("transform", x, config.embedding);
  const TensorId active = block->activation("transform.activation", dense, config.head_activation);
  const TensorId logits =
      vocabulary_logits(block, block->layer_norm("transform.norm", active), config);
  return block->op("decoder.add_bias", "Add",
                   {logits, block->weight("decoder.bias", {config.vocab})});
}

// The output of the graph, given the hidden states of the last block.
TensorId encoder_head(BlockBuilder* block, TensorId x, const ModelConfig& config,
                      const std::string& scope = "head") {
  block->enter(scope);
  const auto dense = [&](TensorId input) {
    return block->activation("dense.activation", block->linear("dense", input, config.hidden),
                             config.head_activation);
  };
  switch (config.head) {
    case Head::kNone:
      return x;
    case Head::kPooler:
      block->graph().mark_output(x);
      return dense(first_token(block, x));
    case Head::kSequence:
      return block->linear("classifier", dense(first_token(block, x)), config.labels);
    case Head::kToken:
      return block->linear("classifier", x, config.labels);
    case Head::kQuestion:
      return block->linear("start_and_end", x, 2);
    case Head::kMaskedLm:
      return masked_lm_head(block, x, config);
    case Head::kDiscriminator:
      return block->linear("classifier", dense(x), 1);
    case Head::kCausalLm:
      break;  // decoders have their own builder
  }
  throw InternalError(__FILE__, __LINE__, "head without a graph");
}

}  // namespace

namespace {

// Layers `first` to `last`, both included, with the exits after them: what is in front of them is
// an input.
Graph build_layers(const ModelConfig& config, const Binding& binding, std::int64_t first,
                   std::int64_t last) {
  BlockBuilder block(config.name);
  TensorId x = kNoId;
  EncoderInputs inputs;
  if (first == 0) {
    inputs = add_encoder_inputs(&block.graph(), config, binding);
    x = encoder_embeddings(&block, inputs, config);
  } else {
    x = block.graph().add_input("hidden_states", {binding.batch, binding.seq_len, config.hidden},
                                DType::kFp32);
    inputs.mask = block.graph().add_input("attention_mask", {binding.batch, 1, 1, binding.seq_len},
                                          DType::kFp32);
  }
  for (std::int64_t i = first; i <= last; ++i) {
    const std::string scope = "encoder." + std::to_string(i);
    block.enter(scope, config.shared_layers ? "encoder.shared" : scope,
                static_cast<std::int32_t>(i));
    x = encoder_layer(&block, x, inputs, config, i);
    const bool is_last = i == config.layers - 1;
    if (i == last && !is_last) block.graph().mark_output(x);
    block.graph().mark_output(
        encoder_head(&block, x, config, is_last ? "head" : "exit." + std::to_string(i)));
  }
  return std::move(block.graph());
}

}  // namespace

Graph build_encoder(const ModelConfig& config, const Binding& binding) {
  constexpr std::string_view kLayer = "layer.";
  if (!config.exits.empty()) {
    if (binding.part.empty()) return build_layers(config, binding, 0, config.layers - 1);
    const auto layer =
        static_cast<std::int64_t>(written_number(binding.part.substr(kLayer.size())));
    return build_layers(config, binding, layer, layer);
  }
  BlockBuilder block(config.name);
  EncoderInputs inputs = add_encoder_inputs(&block.graph(), config, binding);
  TensorId x = encoder_embeddings(&block, inputs, config);
  if (config.adapters > 0) block.graph().add_weight("adapters", {config.adapters}, DType::kFp32);
  const TensorId embedded = x;
  add_distances(&block, config, &inputs);
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string scope = "encoder." + std::to_string(i);
    block.enter(scope, config.shared_layers ? "encoder.shared" : scope,
                static_cast<std::int32_t>(i));
    x = encoder_layer(&block, x, inputs, config, i);
    if (i == 0 && config.disentangled.conv_kernel > 0)
      x = with_convolution(&block, x, embedded, config);
  }
  block.graph().mark_output(encoder_head(&block, x, config));
  return std::move(block.graph());
}

}  // namespace foretell
