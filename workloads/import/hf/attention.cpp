#include "workloads/import/hf/attention.hpp"

#include <cmath>
#include <map>
#include <string>
#include <utility>

namespace foretell {
namespace {

// Adds the axis of the group: [B, heads, S, dim] -> [B, kv_heads, heads / kv_heads, S, dim].
TensorId grouped(BlockBuilder* block, const std::string& name, TensorId x, std::int64_t kv_heads) {
  const Shape in = block->shape(x);
  const Shape out{in[0], kv_heads, in[1] / kv_heads, in[2], in[3]};
  return block->op(name + ".group", "Reshape", {x}, {{"shape", out}});
}

TensorId masked_scores(BlockBuilder* block, const std::string& name, TensorId scores,
                       const ScoreRule& rule, double scale) {
  if (rule.scaled) scores = block->op(name + ".scale", "Mul", {scores}, {{"scalar", scale}});
  if (rule.alibi) scores = block->op(name + ".alibi", "Alibi", {scores});
  if (rule.bias != kNoId) scores = block->op(name + ".bias", "Add", {scores, rule.bias});
  switch (rule.mask) {
    case MaskKind::kNone:
      break;
    case MaskKind::kAdded:
      return block->op(name + ".mask", "Add", {scores, rule.added});
    case MaskKind::kCausal: {
      std::map<std::string, Attribute> attributes{{"offset", rule.offset}};
      const bool hides = rule.window > 0 && block->shape(scores).back() > rule.window;
      if (hides) attributes["window"] = rule.window;
      return block->op(name + ".mask", "CausalMask", {scores}, std::move(attributes));
    }
  }
  return scores;
}

}  // namespace

ScoreRule added_mask(TensorId mask) {
  ScoreRule rule;
  rule.mask = MaskKind::kAdded;
  rule.added = mask;
  return rule;
}

TensorId attend(BlockBuilder* block, const std::string& name, TensorId q, TensorId k, TensorId v,
                const ScoreRule& rule) {
  const Shape queries = block->shape(q);
  const std::int64_t kv_heads = block->shape(k)[1];
  const bool grouping = kv_heads != queries[1];
  if (grouping) {
    q = grouped(block, name + ".query", q, kv_heads);
    k = grouped(block, name + ".key", k, kv_heads);
    v = grouped(block, name + ".value", v, kv_heads);
  }
  const TensorId scores =
      block->op(name + ".scores", "MatMul", {q, k}, {{"transpose_b", std::int64_t{1}}});
  const double scale = 1.0 / std::sqrt(static_cast<double>(queries[3]));
  const TensorId masked = masked_scores(block, name, scores, rule, scale);
  const TensorId weights =
      block->op(name + ".softmax", "Softmax", {masked}, {{"axis", std::int64_t{-1}}});
  TensorId context = block->op(name + ".context", "MatMul", {weights, v});
  if (grouping) {
    context = block->op(name + ".context.ungroup", "Reshape", {context}, {{"shape", queries}});
  }
  return block->merge_heads(name + ".context", context);
}

Cached update_cache(BlockBuilder* block, const std::string& name, TensorId k, TensorId v,
                    std::int64_t rows) {
  const auto update = [&](const std::string& what, TensorId fresh) {
    Shape shape = block->shape(fresh);
    shape[2] = rows;
    const TensorId cache = block->state(name + "." + what, shape);
    const TensorId updated =
        block->op(name + "." + what + ".update", "UpdateCache", {cache, fresh});
    block->graph().mark_state(updated);
    return updated;
  };
  return {update("key_cache", k), update("value_cache", v)};
}

}  // namespace foretell
