// Blocks of decoders made of parts whose weights several layers share: Zamba2 (arXiv 2411.15242).
#include "workloads/import/hf/decoder/parts_graph.hpp"

namespace foretell {

// Without residuals of its own. The layer's low-rank matrices end in its number.
TensorId shared_block(PartsContext& context, TensorId x, TensorId embeddings,
                      const SharedBlockPart& part, std::int64_t layer) {
  BlockBuilder& block = *context.block;
  const std::string scope = "decoder." + std::to_string(layer);
  const auto place = static_cast<std::int32_t>(layer);
  block.enter(scope + ".shared", "shared." + std::to_string(part.weights), place);
  context.adapter = "." + std::to_string(layer);
  const TensorId both = block.all_tokens("input", context.joined("input", x, embeddings, 2));
  const TensorId mixed = mix_tokens(context, context.norm("attention.norm", both), part.mixer);
  const TensorId in = block.all_tokens("ffn.input", context.norm("ffn.norm", mixed));
  const TensorId fed = feed_forward(context, in, part.feed_forward);
  context.adapter.clear();
  block.enter(scope, scope, place);
  return context.linear("shared.projection", fed, context.config->hidden, false);
}

}  // namespace foretell
