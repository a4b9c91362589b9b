#include "workloads/import/hf/vision/vision_transformer_graph.hpp"

#include "model/base/errors.hpp"
#include "workloads/import/hf/vision/tower.hpp"

namespace foretell {
namespace {

TowerConfig image_tower(const ModelConfig& config) {
  TowerConfig tower = config.vision.tower;
  tower.layers = config.layers;
  tower.hidden = config.hidden;
  tower.heads = config.heads;
  tower.intermediate = config.intermediate;
  tower.activation = config.activation;
  if (!config.qkv_bias) tower.query_bias = tower.key_bias = tower.value_bias = false;
  return tower;
}

TensorId add_image(BlockBuilder* block, const ModelConfig& config, const Binding& binding) {
  const std::int64_t side = config.vision.image_size;
  if (binding.image_size > 0 && binding.image_size != side) {
    throw UserError(config.name + ": --image-size must be " + std::to_string(side) +
                    ", for which its table of positions is; a config.json with another "
                    "image_size is another network");
  }
  return block->graph().add_input("image", {binding.batch, config.vision.channels, side, side},
                                  DType::kFp32);
}

// Patches of an image as tokens: [batch, patches, hidden].
TensorId plain_patches(BlockBuilder* block, const ModelConfig& config, const Binding& binding,
                       bool bias) {
  const std::int64_t patch = config.vision.patch;
  const TensorId image = add_image(block, config, binding);
  block->enter("embeddings");
  std::vector<TensorId> inputs{
      image, block->weight("patch.weight", {config.hidden, config.vision.channels, patch, patch})};
  if (bias) inputs.push_back(block->weight("patch.bias", {config.hidden}));
  const TensorId patches = block->op("patch", "Conv", inputs, {{"strides", Shape{patch, patch}}});
  return pixels_to_tokens(block, "patch", patches);
}

TensorId with_positions(BlockBuilder* block, const ModelConfig& config, TensorId tokens) {
  const std::int64_t count = block->shape(tokens)[1];
  return block->op("add_position", "Add",
                   {tokens, block->weight("position.weight", {count, config.hidden})});
}

// Patches, a class token in front, and positions: [batch, 1 + patches, hidden].
TensorId patch_tokens(BlockBuilder* block, const ModelConfig& config, const Binding& binding,
                      bool bias) {
  const TensorId tokens = plain_patches(block, config, binding, bias);
  const TensorId first =
      for_all(block, "class.expand", block->weight("class", {1, 1, config.hidden}), binding.batch);
  return with_positions(
      block, config, block->op("concat", "Concat", {first, tokens}, {{"axis", std::int64_t{1}}}));
}

TensorId registers_of(BlockBuilder* block, const ModelConfig& config, std::int64_t batch) {
  return for_all(block, "register.expand",
                 block->weight("register", {1, config.vision.tower.registers, config.hidden}),
                 batch);
}

// One learned query asks all tokens, and a feed-forward part follows: [batch, hidden].
TensorId pooled_by_attention(BlockBuilder* block, TensorId x, const ModelConfig& config,
                             std::int64_t batch) {
  const auto project = [&](const std::string& name, TensorId from) {
    return block->split_heads(name, block->linear(name, from, config.hidden), config.heads);
  };
  const TensorId probe =
      for_all(block, "probe.expand", block->weight("probe", {1, 1, config.hidden}), batch);
  const TensorId q = project("attention.query", probe);
  const TensorId k = project("attention.key", x);
  const TensorId v = project("attention.value", x);
  const TensorId asked =
      block->linear("attention.output", attend(block, "attention", q, k, v, {}), config.hidden);
  TensorId fed =
      block->linear("ffn.intermediate", block->layer_norm("norm", asked), config.intermediate);
  fed = block->activation("ffn.activation", fed, config.activation);
  fed = block->linear("ffn.output", fed, config.hidden);
  return take_token(block, "pooled", block->op("ffn.residual", "Add", {fed, asked}), 0);
}

// Rows divided by their length.
TensorId unit_rows(BlockBuilder* block, const std::string& name, TensorId x) {
  return block->op(name, "AlongAxis", {x},
                   {{"function", std::string("LpNormalization")}, {"axes", Shape{1}}});
}

// All tokens after a last norm, and the first of them alone.
Graph tokens_and_first(BlockBuilder& block, TensorId x) {
  block.enter("head");
  x = block.layer_norm("norm", x);
  block.graph().mark_output(x);
  block.graph().mark_output(take_token(&block, "first_token", x, 0));
  return std::move(block.graph());
}

}  // namespace

Graph build_vit(const ModelConfig& config, const Binding& binding) {
  BlockBuilder block(config.name);
  TensorId x = patch_tokens(&block, config, binding, true);
  x = pre_norm_tower(&block, "encoder", x, image_tower(config), {}, 0);
  block.enter("head");
  x = block.layer_norm("norm", x);
  const TensorId first = take_token(&block, "first_token", x, 0);
  if (config.head == Head::kPooler) {
    block.graph().mark_output(x);
    const TensorId dense = block.linear("dense", first, config.hidden);
    block.graph().mark_output(block.activation("dense.activation", dense, Activation::kTanh));
  } else {
    block.graph().mark_output(block.linear("classifier", first, config.labels));
  }
  return std::move(block.graph());
}

Graph build_dinov2(const ModelConfig& config, const Binding& binding) {
  BlockBuilder block(config.name);
  TensorId x = patch_tokens(&block, config, binding, true);
  if (config.vision.tower.registers > 0) {
    x = block.op("registers", "Concat", {x, registers_of(&block, config, binding.batch)},
                 {{"axis", std::int64_t{1}}});
  }
  x = pre_norm_tower(&block, "encoder", x, image_tower(config), {}, 0, true);
  return tokens_and_first(block, x);
}

// A class token and registers in front of the patches, whose places rotate queries and keys; those
// of the tokens in front, which do not turn, are counted as if they did.
Graph build_dinov3(const ModelConfig& config, const Binding& binding) {
  BlockBuilder block(config.name);
  const TensorId patches = plain_patches(&block, config, binding, true);
  std::vector<TensorId> tokens = {
      for_all(&block, "class.expand", block.weight("class", {1, 1, config.hidden}), binding.batch)};
  if (config.vision.tower.registers > 0)
    tokens.push_back(registers_of(&block, config, binding.batch));
  tokens.push_back(patches);
  TensorId x = block.op("concat", "Concat", tokens, {{"axis", std::int64_t{1}}});
  const TensorId positions =
      block.graph().add_input("position_ids", {binding.batch, block.shape(x)[1]}, DType::kInt64);
  x = pre_norm_tower(&block, "encoder", x, image_tower(config), {}, 0, true, positions);
  return tokens_and_first(block, x);
}

Graph build_siglip_tower(const ModelConfig& config, const Binding& binding) {
  BlockBuilder block(config.name);
  TensorId x = with_positions(&block, config, plain_patches(&block, config, binding, true));
  x = pre_norm_tower(&block, "encoder", x, image_tower(config), {}, 0);
  block.enter("head");
  x = block.layer_norm("post_norm", x);
  block.graph().mark_output(x);
  block.graph().mark_output(pooled_by_attention(&block, x, config, binding.batch));
  return std::move(block.graph());
}

// Two parts in turn: one over the tokens of each channel, one over the channels of each token.
Graph build_mixer(const ModelConfig& config, const Binding& binding) {
  BlockBuilder block(config.name);
  TensorId x = plain_patches(&block, config, binding, true);
  const auto turned = [&](const std::string& name, TensorId y) {
    return block.op(name, "Transpose", {y}, {{"perm", Shape{0, 2, 1}}});
  };
  const auto fed = [&](const std::string& name, TensorId y, std::int64_t inner) {
    const std::int64_t outer = block.shape(y).back();
    y = block.activation(name + ".activation", block.linear(name + ".intermediate", y, inner),
                         config.activation);
    return block.linear(name + ".output", y, outer);
  };
  for (std::int64_t i = 0; i < config.layers; ++i) {
    const std::string scope = "mixer." + std::to_string(i);
    block.enter(scope, scope, static_cast<std::int32_t>(i));
    const TensorId channels = turned("tokens.turn", block.layer_norm("tokens.norm", x));
    const TensorId mixed = fed("tokens", channels, config.vision.token_intermediate);
    x = block.op("tokens.residual", "Add", {turned("tokens.turn_back", mixed), x});
    const TensorId wide =
        fed("channels", block.layer_norm("channels.norm", x), config.intermediate);
    x = block.op("channels.residual", "Add", {wide, x});
  }
  block.enter("head");
  x = block.op("mean", "ReduceMean", {block.layer_norm("norm", x)}, {{"axis", std::int64_t{1}}});
  block.graph().mark_output(block.linear("classifier", x, config.labels));
  return std::move(block.graph());
}

Graph build_siglip(const ModelConfig& config, const Binding& binding) {
  BlockBuilder block(config.name);
  const TextConfig& text = config.text;
  TensorId x = with_positions(&block, config, plain_patches(&block, config, binding, true));
  x = pre_norm_tower(&block, "vision", x, image_tower(config), {}, 0);
  x = block.layer_norm("post_norm", x);
  const TensorId images =
      unit_rows(&block, "unit", pooled_by_attention(&block, x, config, binding.batch));
  x = text_tower(&block, "text", text, static_cast<std::int32_t>(config.layers));
  x = take_token(&block, "last_token", x, text.length - 1);
  const TensorId texts = unit_rows(&block, "unit", block.linear("projection", x, text.projection));
  block.enter("head");
  x = block.op("similarity", "MatMul", {images, texts}, {{"transpose_b", std::int64_t{1}}});
  x = block.op("scale", "Mul", {x, block.weight("logit_scale", {1})});
  block.graph().mark_output(block.op("shift", "Add", {x, block.weight("logit_bias", {1})}));
  return std::move(block.graph());
}

Graph build_clip(const ModelConfig& config, const Binding& binding) {
  BlockBuilder block(config.name);
  const TextConfig& text = config.text;
  TensorId x = patch_tokens(&block, config, binding, false);
  x = block.layer_norm("norm", x);
  x = pre_norm_tower(&block, "vision", x, image_tower(config), {}, 0);
  x = block.layer_norm("norm", take_token(&block, "first_token", x, 0));
  const TensorId images =
      unit_rows(&block, "unit", block.linear("projection", x, text.projection, false));
  x = text_tower(&block, "text", text, static_cast<std::int32_t>(config.layers));
  x = take_token(&block, "last_token", x, text.length - 1);
  const TensorId texts =
      unit_rows(&block, "unit", block.linear("projection", x, text.projection, false));
  block.enter("head");
  const TensorId similar =
      block.op("similarity", "MatMul", {images, texts}, {{"transpose_b", std::int64_t{1}}});
  block.graph().mark_output(block.op("scale", "Mul", {similar, block.weight("logit_scale", {1})}));
  return std::move(block.graph());
}

Graph build_clip_text(const ModelConfig& config, const Binding& binding) {
  BlockBuilder block(config.name);
  TextConfig text = config.text;
  text.texts *= binding.batch;
  text.tower.layers = config.layers;
  TensorId x = text_tower(&block, "text", text, 0);
  block.graph().mark_output(x);
  if (text.projection > 0) {
    x = take_token(&block, "last_token", x, text.length - 1);
    block.graph().mark_output(block.linear("projection", x, text.projection, false));
  }
  return std::move(block.graph());
}

}  // namespace foretell
