#include "workloads/import/hf/encoder_graph.hpp"

#include <string>
#include <string_view>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "workloads/import/hf/attention.hpp"
#include "workloads/import/hf/block_builder.hpp"

namespace foretell {
namespace {

struct EncoderInputs {
  TensorId ids = kNoId;
  TensorId token_types = kNoId;
  TensorId positions = kNoId;
  TensorId mask = kNoId;
};

// Feed-forward network: two linear layers with an activation between, and a gate or none.
TensorId feed_forward(BlockBuilder* block, TensorId x, const ModelConfig& config) {
  const TensorId wide = block->linear("ffn.intermediate", x, config.intermediate, config.ffn_bias);
  TensorId active = block->activation("ffn.activation", wide, config.activation);
  if (config.gated_ffn) {
    const TensorId up = block->linear("ffn.up", x, config.intermediate, config.ffn_bias);
    active = block->op("ffn.gated", "Mul", {active, up});
  }
  return block->linear("ffn.output", active, config.hidden, config.ffn_bias);
}

TensorId encoder_layer(BlockBuilder* block, TensorId x, const EncoderInputs& inputs,
                       const ModelConfig& config) {
  const auto project = [&](const std::string& name) {
    return block->split_heads(name, block->linear(name, x, config.hidden, config.qkv_bias),
                              config.heads);
  };
  const auto rotated = [&](const std::string& name, TensorId heads) {
    if (config.position_kind != Positions::kRotary) return heads;
    return block->op(name + ".rotate", "Rope", {heads, inputs.positions},
                     {{"dim", config.rotary_dim}});
  };
  const TensorId q = rotated("attention.query", project("attention.query"));
  const TensorId k = rotated("attention.key", project("attention.key"));
  const TensorId v = project("attention.value");
  const TensorId context = attend(block, "attention", q, k, v, added_mask(inputs.mask));
  const TensorId attended =
      block->linear("attention.output", context, config.hidden, config.attention_bias);
  const TensorId middle =
      block->layer_norm("attention.norm", block->op("attention.residual", "Add", {attended, x}));
  const TensorId fed = feed_forward(block, middle, config);
  return block->layer_norm("ffn.norm", block->op("ffn.residual", "Add", {fed, middle}));
}

EncoderInputs add_encoder_inputs(Graph* graph, const ModelConfig& config, const Binding& binding) {
  const Shape tokens{binding.batch, binding.seq_len};
  EncoderInputs inputs;
  inputs.ids = graph->add_input("input_ids", tokens, DType::kInt64);
  if (config.token_types > 1)
    inputs.token_types = graph->add_input("token_type_ids", tokens, DType::kInt64);
  inputs.positions = graph->add_input("position_ids", tokens, DType::kInt64);
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
  if (config.position_kind == Positions::kLearned) {
    const TensorId positions =
        block->embedding("position", inputs.positions, config.positions, width);
    x = block->op("add_position", "Add", {x, positions});
  }
  x = block->layer_norm("norm", x);
  return width == config.hidden ? x : block->linear("projection", x, config.hidden);
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
    x = encoder_layer(&block, x, inputs, config);
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
  const EncoderInputs inputs = add_encoder_inputs(&block.graph(), config, binding);
  TensorId x = encoder_embeddings(&block, inputs, config);
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string scope = "encoder." + std::to_string(i);
    block.enter(scope, config.shared_layers ? "encoder.shared" : scope,
                static_cast<std::int32_t>(i));
    x = encoder_layer(&block, x, inputs, config);
  }
  block.graph().mark_output(encoder_head(&block, x, config));
  return std::move(block.graph());
}

}  // namespace foretell
