#include <algorithm>

#include "model/base/errors.hpp"
#include "workloads/import/hf/decoder/parts_graph.hpp"

namespace foretell {
namespace {

std::int64_t share(std::int64_t whole, std::int64_t ranks) { return (whole + ranks - 1) / ranks; }

void shard_mixer(std::int64_t ranks, MixerPart* mixer) {
  if (mixer->kind == MixerKind::kNone || mixer->heads == 0) return;
  const std::int64_t chosen = mixer->heads / std::max<std::int64_t>(1, mixer->kv_heads);
  mixer->heads = share(mixer->heads, ranks);
  mixer->kv_heads = std::max<std::int64_t>(1, share(mixer->kv_heads, ranks));
  if (mixer->head_experts > 0) mixer->heads = chosen * mixer->kv_heads;
  if (mixer->heads % mixer->kv_heads != 0) mixer->kv_heads = mixer->heads;
  mixer->output_groups = std::max<std::int64_t>(1, mixer->output_groups / ranks);
  if (mixer->kind != MixerKind::kCompressed) mixer->output_groups = 1;
  if (mixer->kind == MixerKind::kLatent || mixer->kind == MixerKind::kCompressed) return;
  mixer->indexer.heads = share(mixer->indexer.heads, ranks);
}

void check_expert_groups(const std::string& name, const FeedForwardPart& part,
                         const Binding& binding) {
  const std::int64_t groups = binding.expert_parallel;
  const std::int64_t more = binding.redundant_experts;
  if ((part.experts + more) % groups == 0) return;
  throw UserError(name + ": " + std::to_string(part.experts) + " experts " +
                  (more > 0 ? "and " + std::to_string(more) + " redundant ones " : "") +
                  "do not divide among " + std::to_string(groups) +
                  " groups of ranks; --ep must divide them");
}

}  // namespace

ModelConfig shard_of_parts(const ModelConfig& config, const Binding& binding) {
  const std::int64_t ranks = binding.tensor_parallel;
  const std::int64_t copy_ranks = ranks * binding.attention_data_parallel;
  if (ranks < 1 || ranks > config.heads) {
    throw UserError(config.name + ": " + std::to_string(ranks) + " cores cannot share its " +
                    std::to_string(config.heads) + " attention heads; --tp must be from 1 to " +
                    std::to_string(config.heads));
  }
  if (binding.expert_parallel < 1 || copy_ranks % binding.expert_parallel != 0) {
    throw UserError(config.name + ": --ep " + std::to_string(binding.expert_parallel) +
                    " does not divide the " + std::to_string(copy_ranks) +
                    " devices of a copy (--tp times --attention-dp)");
  }
  const std::int64_t widths = copy_ranks / binding.expert_parallel;
  ModelConfig shard = config;
  shard.vocab = share(config.vocab, ranks);
  for (LayerPart& part : shard.parts_of_decoder.layers) {
    shard_mixer(ranks, &part.mixer);
    shard_mixer(ranks, &part.beside);
    shard_mixer(ranks, &part.shared.mixer);
    for (FeedForwardPart* ffn : {&part.feed_forward, &part.aside, &part.shared.feed_forward}) {
      ffn->intermediate = share(ffn->intermediate, ranks);
      ffn->shared_intermediate = share(ffn->shared_intermediate, ranks);
      if (ffn->kind != FeedForwardKind::kExperts) continue;
      check_expert_groups(config.name, *ffn, binding);
      ffn->held = (ffn->experts + binding.redundant_experts) / binding.expert_parallel;
      ffn->expert_intermediate = share(ffn->expert_intermediate, widths);
    }
  }
  return shard;
}

}  // namespace foretell
