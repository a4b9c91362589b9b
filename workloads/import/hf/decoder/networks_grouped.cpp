// config.json of decoders with experts whose layers are alike: Hunyuan, DBRX, Grok-1, Arctic,
// Laguna.
#include <algorithm>

#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

bool no_window(std::int64_t /*layer*/, std::int64_t /*pattern*/) { return false; }

// Keys and values of a layer serve those after it, too (Hunyuan-Large).
void read_shared_keys(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  if (!fields.flag_or("use_cla", false)) return;
  const auto sharing = static_cast<std::size_t>(fields.size_or("cla_share_factor", kMaxLayers, 2));
  for (std::size_t i = 0; i < reader.layers().size(); ++i)
    reader.layer(i).mixer.reads_earlier = i % sharing != 0;
}

void read_hunyuan_moe(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  read_shared_keys(reader);
  if (fields.flag_or("use_qk_norm", true)) reader.norm_heads();
  reader.read_rotation();
  FeedForwardPart part = reader.layer(0).feed_forward;
  part.kind = FeedForwardKind::kExperts;
  part.experts = part.held =
      std::max<std::int64_t>(1, first_of_list(fields, "num_experts", kMaxVocab, 1));
  part.top_k = std::max<std::int64_t>(1, first_of_list(fields, "moe_topk", kMaxVocab, 1));
  part.expert_hidden = config->hidden;
  part.expert_intermediate = std::max<std::int64_t>(
      1, first_of_list(fields, "moe_intermediate_size", kMaxWidth, part.intermediate));
  if (part.top_k > part.experts) {
    fields.problem("moe_topk",
                   "is more than the " + std::to_string(part.experts) + " experts of num_experts");
    part.top_k = part.experts;
  }
  if (fields.flag_or("use_mixed_mlp_moe", false)) {
    part.shared_intermediate =
        first_of_list(fields, "num_shared_expert", kMaxLayers, 1) * part.expert_intermediate;
  }
  config->experts = part.experts;
  config->experts_per_token = part.top_k;
  reader.spread_experts(
      part, reader.sparse_from(fields.count_or("moe_layer_num_skipped", kMaxLayers, 0), 1));
}

void read_grok(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  for (LayerPart& part : reader.layers()) part.form = LayerForm::kSandwich;
  reader.read_rotation();
  FeedForwardPart part = reader.experts({{"num_experts", "num_local_experts"},
                                         {"num_experts_per_tok", "num_selected_experts"},
                                         {"moe_intermediate_size", "intermediate_size"}});
  part.dense_beside = fields.flag_or("residual_moe", false);  // Grok-2
  reader.spread_experts(part, reader.sparse_from(0, 1));
}

void read_dbrx(JsonFields& fields, ModelConfig* config) {
  JsonFields attention = fields.inside("attn_config");
  JsonFields ffn = fields.inside("ffn_config");
  PartsReader reader(fields, config);
  reader.use_layer_norm();
  config->kv_heads = attention.size_or("kv_n_heads", kMaxHeads, 1);
  for (LayerPart& part : reader.layers()) part.mixer.kv_heads = config->kv_heads;
  reader.read_rotation();
  const std::size_t notes = config->notes.size();
  PartsReader inner(ffn, config,
                    {config->hidden, config->layers, config->heads, config->kv_heads,
                     config->head_dim, 1, config->vocab, config->max_seq_len});
  config->notes.resize(notes);  // its sizes are those of the file
  for (LayerPart& part : inner.layers()) part.mixer.rotary_dim = config->head_dim;
  inner.spread_experts(inner.experts({{"moe_num_experts"}, {"moe_top_k"}, {"ffn_hidden_size"}}),
                       inner.sparse_from(0, 1));
  fields.take_problems(attention);
  fields.take_problems(ffn);
}

// Snowflake Arctic: a dense network as wide as the stream beside the experts, which read what the
// layer reads.
void read_arctic(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {4096, 32, 32, 0, 0, 14336, 32000, 4096});
  reader.read_rotation();
  reader.read_windows(every_layer, 1);
  FeedForwardPart part = reader.experts(
      {{"num_local_experts"}, {"num_experts_per_tok"}, {"intermediate_size"}, 8, 1, 14336});
  part.intermediate = config->hidden;
  part.dense_beside = part.reads_layer_input =
      fields.flag_or("use_residual", fields.flag_or("parallel_attn_mlp_res", false));
  reader.spread_experts(part,
                        reader.every_nth(fields.size_or("moe_layer_frequency", kMaxLayers, 2)));
}

// Laguna: heads of each layer are counted on their own, and gates open what they give.
void read_laguna(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  reader.norm_heads();
  const std::vector<std::int64_t> heads = fields.integers("num_attention_heads_per_layer");
  const bool counts =
      !heads.empty() && reader.names_layers("num_attention_heads_per_layer", heads.size());
  const bool wide = fields.is_text("gating") && fields.text("gating") == "per-element";
  const bool gates = fields.is_text("gating") || fields.flag_or("gating", true);
  for (std::size_t i = 0; i < reader.layers().size(); ++i) {
    MixerPart& mixer = reader.layer(i).mixer;
    if (counts) mixer.heads = heads[i];
    if (gates) mixer.gate_columns = wide ? mixer.value_dim : 1;
    if (mixer.heads >= 1 && mixer.heads <= kMaxHeads) continue;
    return fields.problem("num_attention_heads_per_layer", "holds " + std::to_string(mixer.heads) +
                                                               "; entries are from 1 to " +
                                                               std::to_string(kMaxHeads));
  }
  reader.read_rotation();
  reader.read_windows(no_window, 1);
  FeedForwardPart part =
      reader.experts({{"num_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"}});
  part.router.function = "sigmoid";
  part.router.bias = true;
  part.shared_intermediate = fields.count_or("shared_expert_intermediate_size", kMaxWidth, 0);
  reader.spread_experts(part, reader.sparse_by_words("mlp_layer_types", reader.sparse_from(1, 1)));
}

}  // namespace

std::vector<ModelType> grouped_network_types() {
  return {
      {"arctic", "Arctic", {}, read_arctic, false},
      {"hunyuan_v1_moe", "HunYuanMoEV1", {}, read_hunyuan_moe, true},
      {"hunyuan", "HunYuan", {}, read_hunyuan_moe, true},
      {"grok-1", "Grok1", {}, read_grok, true},
      {"dbrx", "Dbrx", {}, read_dbrx, false},
      {"laguna", "Laguna", {}, read_laguna, false},
  };
}

}  // namespace foretell
