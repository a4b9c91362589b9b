// config.json of decoders with experts whose layers are alike: ERNIE 4.5, dots.llm1, Ling, Hunyuan,
// PhiMoE, DBRX, Grok-1, Trinity, Arctic, Laguna.
#include <algorithm>

#include "workloads/import/hf/parts_reader.hpp"

namespace foretell {
namespace {

bool no_window(std::int64_t /*layer*/, std::int64_t /*pattern*/) { return false; }

void read_ernie_moe(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  reader.read_rotation();
  FeedForwardPart part =
      reader.experts({{"moe_num_experts"}, {"moe_k"}, {"moe_intermediate_size"}});
  part.router.bias = fields.flag_or("moe_use_aux_free", true);
  part.shared_intermediate =
      fields.count_or("moe_num_shared_experts", kMaxLayers, 0) * part.expert_intermediate;
  const std::int64_t first = fields.count_or("moe_layer_start_index", kMaxLayers, 0);
  const std::int64_t step = fields.size_or("moe_layer_interval", kMaxLayers, 1);
  reader.spread_experts(part, reader.every_nth(step, first));
  reader.draft_layers({"num_nextn_predict_layers"});
}

// Experts by the fields of DeepSeek, with grouped attention.
void read_deepseek_experts(PartsReader& reader, const std::string& function, bool bias) {
  JsonFields& fields = reader.fields();
  reader.read_rotation();
  FeedForwardPart part =
      reader.experts({{"n_routed_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"}});
  part.router.function = function;
  reader.read_groups(&part.router);
  part.router.bias = part.router.bias || bias;
  part.shared_intermediate =
      fields.count_or("n_shared_experts", kMaxLayers, 0) * part.expert_intermediate;
  reader.spread_experts(part,
                        reader.sparse_from(fields.count_or("first_k_dense_replace", kMaxLayers, 0),
                                           fields.size_or("moe_layer_freq", kMaxLayers, 1)));
}

void read_dots(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  reader.norm_heads();
  read_deepseek_experts(reader, "sigmoid", true);
}

// DeepSeekMoE, the first: attention of Llama.
void read_deepseek(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  read_deepseek_experts(reader, "softmax", false);
}

void read_ling(JsonFields& fields, ModelConfig* config, const std::string& function) {
  PartsReader reader(fields, config);
  if (fields.flag_or("use_qk_norm", function == "sigmoid")) reader.norm_heads();
  for (LayerPart& part : reader.layers()) {
    part.mixer.qkv_bias = fields.flag_or("use_qkv_bias", false);
    part.mixer.output_bias = fields.flag_or("use_bias", false);
  }
  reader.read_rotation();
  FeedForwardPart part =
      reader.experts({{"num_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"}});
  part.router.function = function;
  part.router.bias = function == "sigmoid";
  part.router.function = fields.text_or("score_function", function);
  reader.read_groups(&part.router);
  part.shared_intermediate =
      fields.count_or("num_shared_experts", kMaxLayers, 0) *
      fields.size_or("moe_shared_expert_intermediate_size", kMaxWidth, part.expert_intermediate);
  reader.spread_experts(
      part, reader.sparse_from(fields.count_or("first_k_dense_replace", kMaxLayers, 0), 1));
  reader.draft_layers({"num_nextn_predict_layers"});
}

void read_bailing(JsonFields& fields, ModelConfig* config) { read_ling(fields, config, "softmax"); }

void read_bailing_v2(JsonFields& fields, ModelConfig* config) {
  read_ling(fields, config, "sigmoid");
}

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

void read_phimoe(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  reader.use_layer_norm();
  config->head_bias = fields.flag_or("lm_head_bias", false);
  reader.read_rotation();
  reader.spread_experts(
      reader.experts({{"num_local_experts"}, {"num_experts_per_tok"}, {"intermediate_size"}}),
      reader.sparse_from(0, 1));
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

// Trinity: a gate on attention, norms on both sides, sigmoid scores.
void read_afmoe(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  reader.norm_heads();
  for (LayerPart& part : reader.layers()) {
    part.form = LayerForm::kSandwich;
    part.mixer.gate_columns = part.mixer.value_dim;
  }
  reader.read_rotation();
  reader.read_windows(all_but_last, fields.size_or("global_attn_every_n_layers", kMaxLayers, 4),
                      2048);
  FeedForwardPart part =
      reader.experts({{"num_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"}});
  part.router.function = fields.text_or("score_func", "sigmoid");
  part.router.bias = true;
  reader.read_groups(&part.router);
  part.shared_intermediate =
      fields.count_or("num_shared_experts", kMaxLayers, 0) * part.expert_intermediate;
  reader.spread_experts(part,
                        reader.sparse_from(fields.count_or("num_dense_layers", kMaxLayers, 0), 1));
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
      {"ernie4_5_moe", "Ernie4_5_Moe", {}, read_ernie_moe, true},
      {"dots1", "Dots1", {}, read_dots, false},
      {"deepseek", "Deepseek", {}, read_deepseek, false},
      {"bailing_moe", "BailingMoe", {}, read_bailing, false},
      {"bailing_moe_v2", "BailingMoeV2", {}, read_bailing_v2, false},
      {"hunyuan_v1_moe", "HunYuanMoEV1", {}, read_hunyuan_moe, true},
      {"hunyuan", "HunYuan", {}, read_hunyuan_moe, true},
      {"phimoe", "PhiMoE", {}, read_phimoe, false},
      {"grok-1", "Grok1", {}, read_grok, true},
      {"dbrx", "Dbrx", {}, read_dbrx, false},
      {"laguna", "Laguna", {}, read_laguna, false},
      {"afmoe", "Afmoe", {}, read_afmoe, false},
  };
}

}  // namespace foretell
