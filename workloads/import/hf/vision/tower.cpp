#include "workloads/import/hf/vision/tower.hpp"

namespace foretell {
namespace {

TensorId tower_block(BlockBuilder* block, TensorId x, const TowerConfig& tower,
                     const ScoreRule& rule, bool scaled, TensorId positions) {
  const auto scale = [&](const std::string& name, TensorId added) {
    if (!scaled) return added;
    return block->op(name, "Mul", {added, block->weight(name + ".weight", {tower.hidden})});
  };
  const TensorId before = block->layer_norm("attention.norm", x);
  const auto project = [&](const std::string& name, bool bias) {
    return block->split_heads(name, block->linear(name, before, tower.hidden, bias), tower.heads);
  };
  const auto rotate = [&](const std::string& name, TensorId heads) {
    if (positions == kNoId) return heads;
    return block->op(name, "Rope", {heads, positions}, {{"dim", block->shape(heads).back()}});
  };
  const TensorId q = rotate("attention.query.rotate", project("attention.query", tower.query_bias));
  const TensorId k = rotate("attention.key.rotate", project("attention.key", tower.key_bias));
  const TensorId v = project("attention.value", tower.value_bias);
  const TensorId context = attend(block, "attention", q, k, v, rule);
  const TensorId attended =
      scale("attention.scale", block->linear("attention.output", context, tower.hidden));
  const TensorId middle = block->op("attention.residual", "Add", {attended, x});
  const TensorId normed = block->layer_norm("ffn.norm", middle);
  TensorId fed = block->linear(tower.gated ? "ffn.gate" : "ffn.intermediate", normed,
                               tower.intermediate, tower.ffn_bias);
  fed = block->activation("ffn.activation", fed, tower.activation);
  if (tower.gated) {
    const TensorId up = block->linear("ffn.up", normed, tower.intermediate, tower.ffn_bias);
    fed = block->op("ffn.multiply", "Mul", {fed, up});
  }
  fed = scale("ffn.scale", block->linear("ffn.output", fed, tower.hidden, tower.ffn_bias));
  return block->op("ffn.residual", "Add", {fed, middle});
}

}  // namespace

TensorId pre_norm_tower(BlockBuilder* block, const std::string& scope, TensorId x,
                        const TowerConfig& tower, const ScoreRule& rule, std::int32_t first_layer,
                        bool scaled, TensorId positions) {
  for (std::int64_t i = 0; i < tower.layers; ++i) {
    const std::string name = scope + "." + std::to_string(i);
    block->enter(name, name, first_layer + static_cast<std::int32_t>(i));
    x = tower_block(block, x, tower, rule, scaled, positions);
  }
  block->enter(scope);
  return x;
}

TensorId take_token(BlockBuilder* block, const std::string& name, TensorId x, std::int64_t token) {
  const Shape shape = block->shape(x);
  const TensorId one = block->op(name, "Slice", {x},
                                 {{"axis", std::int64_t{1}}, {"begin", token}, {"end", token + 1}});
  return block->op(name + ".squeeze", "Reshape", {one}, {{"shape", Shape{shape[0], shape[2]}}});
}

TensorId pixels_to_tokens(BlockBuilder* block, const std::string& name, TensorId x) {
  const Shape shape = block->shape(x);
  const TensorId flat =
      block->op(name + ".flatten", "Reshape", {x}, {{"shape", Shape{shape[0], shape[1], -1}}});
  return block->op(name + ".transpose", "Transpose", {flat}, {{"perm", Shape{0, 2, 1}}});
}

TensorId for_all(BlockBuilder* block, const std::string& name, TensorId weight,
                 std::int64_t batch) {
  Shape shape = block->shape(weight);
  if (shape.front() == batch) return weight;
  shape.front() = batch;
  return block->op(name, "Move", {weight}, {{"function", std::string("Expand")}, {"shape", shape}});
}

TensorId text_tower(BlockBuilder* block, const std::string& scope, const TextConfig& text,
                    std::int32_t first_layer) {
  block->enter(scope);
  const TensorId ids =
      block->graph().add_input("input_ids", {text.texts, text.length}, DType::kInt64);
  const TensorId positions =
      block->graph().add_input("position_ids", {1, text.length}, DType::kInt64);
  const TensorId words = block->embedding("word", ids, text.vocab, text.tower.hidden);
  const TensorId places =
      block->embedding("position", positions, text.positions, text.tower.hidden);
  TensorId x = block->op("add_position", "Add", {words, places});
  ScoreRule rule;
  if (text.causal) rule.mask = MaskKind::kCausal;
  x = pre_norm_tower(block, scope, x, text.tower, rule, first_layer);
  return block->layer_norm("norm", x);
}

}  // namespace foretell
