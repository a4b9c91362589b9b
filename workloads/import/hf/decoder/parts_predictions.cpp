// Decoders whose layers compute one of several copies of the stream and predict the others: Gemma
// 3n.
#include "workloads/import/hf/decoder/parts_graph.hpp"

namespace foretell {
namespace {

TensorId columns(PartsContext& context, const std::string& name, TensorId x, std::int64_t begin,
                 std::int64_t end) {
  return context.block->op(name, "Slice", {x},
                           {{"axis", std::int64_t{2}}, {"begin", begin}, {"end", end}});
}

// How a copy is to be mixed with the others, made from one of them: one router serves both of its
// uses in a layer.
TensorId modes_of(PartsContext& context, const std::string& name, TensorId x) {
  BlockBuilder& block = *context.block;
  const std::int64_t copies = context.config->parts_of_decoder.predictions;
  const std::int64_t hidden = context.config->hidden;
  const TensorId normed =
      block.op(name + ".norm", "RmsNorm", {x, block.weight("router.norm.gamma", {hidden})});
  const TensorId weight = block.weight("router.weight", {hidden, copies});
  block.graph().keep(weight);
  return block.op(name + ".tanh", "Tanh", {block.op(name + ".router", "MatMul", {normed, weight})});
}

TensorId weighted(PartsContext& context, const std::string& name, std::vector<TensorId> inputs,
                  const Shape& shape) {
  return context.block->op(name, "Move", std::move(inputs),
                           {{"function", std::string("WeightedSum")}, {"shape", shape}});
}

// A low-rank matrix beside attention, with a residual of its own.
TensorId low_rank_residual(PartsContext& context, TensorId x) {
  const std::int64_t rank = context.config->parts_of_decoder.residual_rank;
  const TensorId low = context.linear("laurel.left", x, rank, false, true);
  const TensorId wide = context.linear("laurel.right", low, context.config->hidden, false, true);
  return context.block->op("laurel.residual", "Add", {context.norm("laurel.norm", wide), x});
}

// The columns that belong to the layer, gated by its result, for the copies that it did not
// compute.
TensorId own_result(PartsContext& context, TensorId x, TensorId own) {
  BlockBuilder& block = *context.block;
  const TensorId gate = block.op(
      "own.gelu", "Gelu", {context.linear("own.gate", x, block.shape(own).back(), false, true)},
      {{"approximate", std::string("tanh")}});
  const TensorId wide = context.linear("own.projection", block.op("own.gated", "Mul", {gate, own}),
                                       context.config->hidden, false, true);
  return context.norm("own.norm", wide);
}

}  // namespace

TensorId spread_predictions(PartsContext& context, TensorId x) {
  const std::int64_t copies = context.config->parts_of_decoder.predictions;
  const std::int64_t hidden = context.config->hidden;
  const TensorId others = context.linear("predictions", x, (copies - 1) * hidden, false, true);
  return context.joined("streams", x, others, 2);
}

TensorId layer_of_predictions(PartsContext& context, TensorId x, const LayerPart& part,
                              TensorId own) {
  BlockBuilder& block = *context.block;
  const std::int64_t copies = context.config->parts_of_decoder.predictions;
  const std::int64_t hidden = context.config->hidden;
  const Shape wide = block.shape(x);
  const TensorId before = columns(context, "active", x, 0, hidden);
  const TensorId first_modes = modes_of(context, "predict", before);
  const TensorId predicted = weighted(
      context, "predict",
      {x, context.linear("predict.weights", first_modes, copies * copies, false, true)}, wide);
  const TensorId active = columns(context, "predict.active", predicted, 0, hidden);
  const TensorId in = context.norm("attention.norm", active);
  const TensorId mixed =
      context.norm("attention.norm_after",
                   mix_tokens(context, block.all_tokens("attention.norm", in), part.mixer));
  TensorId y = block.op("attention.residual", "Add", {mixed, active});
  if (context.config->parts_of_decoder.residual_rank > 0)
    y = block.op("laurel.sum", "Add", {y, low_rank_residual(context, in)});
  const TensorId normed = block.all_tokens("ffn.norm", context.norm("ffn.norm", y));
  const TensorId fed =
      context.norm("ffn.norm_after", feed_forward(context, normed, part.feed_forward));
  y = block.op("ffn.residual", "Add", {fed, y});
  const TensorId modes = modes_of(context, "correct", y);
  const TensorId off = block.op("correct.difference", "Sub", {y, active});
  const TensorId corrected = weighted(
      context, "correct",
      {predicted, off, context.linear("correct.weights", modes, copies, false, true)}, wide);
  if (own == kNoId) return corrected;
  const TensorId now = block.op("correct.scaled", "Mul",
                                {columns(context, "correct.active", corrected, 0, hidden),
                                 block.weight("correct.scale", {hidden})});
  return weighted(context, "own.residual", {corrected, own_result(context, now, own)}, wide);
}

TensorId merged_predictions(PartsContext& context, TensorId x) {
  const std::int64_t copies = context.config->parts_of_decoder.predictions;
  const std::int64_t hidden = context.config->hidden;
  const Shape wide = context.block->shape(x);
  std::vector<TensorId> all;
  for (std::int64_t i = 0; i < copies; ++i) {
    const std::string name = "predictions." + std::to_string(i);
    const TensorId one = columns(context, name, x, i * hidden, (i + 1) * hidden);
    all.push_back(i == 0 ? one : context.linear(name + ".out", one, hidden, false, true));
  }
  return weighted(context, "predictions.mean", std::move(all), {wide[0], wide[1], hidden});
}

}  // namespace foretell
