// config.json of decoders with experts and softmax attention over heads.
#include <algorithm>
#include <set>

#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

bool no_layer(std::int64_t /*layer*/, std::int64_t /*pattern*/) { return false; }

// Layers without rotation see everything, the others the chunk that they are in.
void read_llama4_layers(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  const std::int64_t step = fields.size_or("no_rope_layer_interval", kMaxLayers, 4);
  const std::int64_t chunk = fields.count_or("attention_chunk_size", kMaxPositions, 8192);
  std::vector<std::int64_t> rotated = fields.integers("no_rope_layers");  // 1: is rotated
  if (rotated.empty()) {
    for (std::int64_t i = 0; i < reader.config().layers; ++i)
      rotated.push_back((i + 1) % step == 0 ? 0 : 1);
  }
  if (!reader.has_entry_per_layer("no_rope_layers", rotated.size())) return;
  const std::vector<std::string> types = reader.layer_types();
  const bool norms_heads = fields.flag_or("use_qk_norm", false);
  for (std::size_t i = 0; i < reader.layers().size(); ++i) {
    MixerPart& mixer = reader.layer(i).mixer;
    if (rotated[i] == 0) mixer.rotary_dim = 0;
    if (rotated[i] != 0 && norms_heads) mixer.head_norm = HeadNorm::kPerHead;
    const bool in_chunks = types.empty() ? rotated[i] != 0 : types[i] == "chunked_attention";
    if (in_chunks) mixer.chunk = chunk;
  }
}

void read_llama4(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {5120, 48, 40, 8, 128, 8192, 202048, 131072});
  reader.read_rotation();
  read_llama4_layers(reader);
  for (LayerPart& layer : reader.layers())
    layer.feed_forward.intermediate = fields.size_or("intermediate_size_mlp", kMaxWidth, 16384);
  if (fields.count_or("num_local_experts", kMaxVocab, 16) == 0) {  // Llama Guard 4
    for (const char* key : {"num_experts_per_tok", "interleave_moe_layer_step"})
      fields.count_or(key, kMaxVocab, 0);
    return;
  }
  FeedForwardPart part = reader.experts(
      {{"num_local_experts"}, {"num_experts_per_tok"}, {"intermediate_size"}, 16, 1, 8192});
  part.shared_intermediate = part.expert_intermediate;
  part.router.function = "sigmoid";
  const std::int64_t step = fields.size_or("interleave_moe_layer_step", kMaxLayers, 1);
  std::vector<std::int64_t> sparse = reader.every_nth(step);
  if (fields.is_list("moe_layers")) {
    std::fill(sparse.begin(), sparse.end(), 0);
    reader.set_listed("moe_layers", 1, &sparse);
  }
  reader.spread_experts(part, sparse);
}

void read_minimax_m2(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {3072, 62, 48, 8, 128, 1536, 200064, 196608});
  if (fields.flag_or("use_qk_norm", true)) {
    const std::string kind = fields.text_or("qk_norm_type", "per_layer");
    reader.norm_heads(kind == "per_head" ? HeadNorm::kPerHead : HeadNorm::kWhole);
  }
  reader.read_rotation();
  FeedForwardPart part = reader.experts(
      {{"num_local_experts", "num_experts"}, {"num_experts_per_tok"}, {"intermediate_size"}});
  part.router.function = "sigmoid";
  reader.read_groups(&part.router);
  part.router.bias = fields.flag_or("use_routing_bias", true);
  part.shared_intermediate = fields.count_or("shared_intermediate_size", kMaxWidth, 0);
  reader.spread_experts(part, reader.sparse_from(0, 1));
  const std::vector<std::int64_t> softmax = fields.integers("attn_type_list");
  if (std::find(softmax.begin(), softmax.end(), 0) != softmax.end()) {
    fields.problem("attn_type_list",
                   "holds 0, linear attention, which minimax_m1 has; only 1 can be imported here");
  }
  if (fields.flag_or("use_mtp", false)) {
    reader.draft_layers({"num_mtp_modules"});
    config->parts_of_decoder.draft_layers *=
        fields.count_or("mtp_transformer_layers", kMaxLayers, 1);
  }
}

// Blocks of keys that a few narrow heads choose.
void read_block_selection(PartsReader& reader) {
  if (!reader.fields().has_object("sparse_attention_config")) return;
  JsonFields sparse = reader.fields().inside("sparse_attention_config");
  if (sparse.flag_or("use_sparse_attention", true)) {
    IndexerPart indexer;
    indexer.heads = sparse.size("sparse_num_index_heads", kMaxHeads);
    indexer.head_dim = sparse.size("sparse_index_dim", kMaxWidth);
    indexer.top_k = sparse.size("sparse_topk_blocks", kMaxPositions);
    indexer.block = sparse.size("sparse_block_size", kMaxPositions);
    indexer.top_k += sparse.count_or("sparse_init_block", kMaxPositions, 0) +
                     sparse.count_or("sparse_local_block", kMaxPositions, 0);
    std::vector<std::int64_t> on = sparse.integers("sparse_attention_freq");
    if (on.empty()) on.assign(reader.layers().size(), 1);
    if (on.size() != reader.layers().size()) {
      sparse.problem("sparse_attention_freq", "contradiction: has " + std::to_string(on.size()) +
                                                  " entries, but num_hidden_layers is " +
                                                  std::to_string(reader.layers().size()));
    } else {
      for (std::size_t i = 0; i < on.size(); ++i) {
        if (on[i] != 0) reader.layer(i).mixer.indexer = indexer;
      }
    }
  }
  reader.fields().take_problems(sparse);
}

void read_minimax_m3(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  if (fields.flag_or("use_qk_norm", true)) {
    const std::string kind = fields.text_or("qk_norm_type", "per_head");
    reader.norm_heads(kind == "per_head" ? HeadNorm::kPerHead : HeadNorm::kWhole);
  }
  reader.read_rotation();
  if (fields.flag_or("attention_output_gate", false)) {
    for (LayerPart& part : reader.layers()) part.mixer.gate_columns = part.mixer.value_dim;
  }
  read_block_selection(reader);
  FeedForwardPart part = reader.experts({{"num_local_experts", "num_experts"},
                                         {"num_experts_per_tok"},
                                         {"moe_intermediate_size", "intermediate_size"}});
  part.router.function = "sigmoid";
  reader.read_groups(&part.router);
  part.router.bias = fields.flag_or("use_routing_bias", true);
  const std::int64_t shared = fields.count_or("n_shared_experts", kMaxLayers, 0);
  part.shared_intermediate =
      shared * fields.count_or("shared_intermediate_size", kMaxWidth, part.expert_intermediate);
  const std::int64_t dense = fields.size_or("dense_intermediate_size", kMaxWidth,
                                            reader.layer(0).feed_forward.intermediate);
  for (LayerPart& layer : reader.layers()) layer.feed_forward.intermediate = dense;
  std::vector<std::int64_t> sparse = reader.per_layer("moe_layer_freq");
  if (sparse.empty())
    sparse = reader.sparse_from(fields.count_or("first_k_dense_replace", kMaxLayers, 0), 1);
  reader.spread_experts(part, sparse);
  reader.draft_layers({"num_nextn_predict_layers", "num_mtp_modules"});
}

void read_mimo_v2(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  const std::vector<std::int64_t> sliding = reader.per_layer("hybrid_layer_pattern");
  const std::int64_t window = fields.size_or(
      "sliding_window", kMaxPositions, fields.size_or("sliding_window_size", kMaxPositions, 128));
  const std::int64_t value_dim = fields.size_or("v_head_dim", kMaxWidth, config->head_dim);
  for (std::size_t i = 0; i < reader.layers().size(); ++i) {
    MixerPart& mixer = reader.layer(i).mixer;
    mixer.value_dim = value_dim;
    mixer.sinks = fields.flag_or("add_full_attention_sink_bias", false);
    if (sliding.empty() || sliding[i] == 0) continue;
    mixer.window = window;
    mixer.heads = fields.size_or("swa_num_attention_heads", kMaxHeads, mixer.heads);
    mixer.kv_heads = fields.size_or("swa_num_key_value_heads", kMaxHeads, mixer.kv_heads);
    mixer.head_dim = fields.size_or("swa_head_dim", kMaxWidth, mixer.head_dim);
    mixer.value_dim = fields.size_or("swa_v_head_dim", kMaxWidth, mixer.value_dim);
    mixer.sinks = fields.flag_or("add_swa_attention_sink_bias", false);
  }
  reader.read_rotation();
  FeedForwardPart part =
      reader.experts({{"n_routed_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"}});
  part.router.function = "sigmoid";
  reader.read_groups(&part.router);
  part.shared_intermediate =
      fields.count_or("n_shared_experts", kMaxLayers, 0) * part.expert_intermediate;
  std::vector<std::int64_t> sparse = reader.per_layer("moe_layer_freq");
  if (sparse.empty()) sparse = reader.sparse_from(1, 1);
  reader.spread_experts(part, sparse);
  reader.draft_layers({"num_nextn_predict_layers"});
}

// "3,4,5": the layers with experts.
std::vector<std::int64_t> enumerated_layers(PartsReader& reader, const std::string& text) {
  std::vector<std::int64_t> sparse(reader.layers().size(), 0);
  for (const std::string& word : split(text, ',')) {
    const std::optional<std::int64_t> layer = to_count(trim(word));
    if (layer && *layer < static_cast<std::int64_t>(sparse.size()))
      sparse[static_cast<std::size_t>(*layer)] = 1;
  }
  return sparse;
}

// Layers of the other kind may have other numbers of heads.
void read_step_heads(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  if (!fields.has_object("attention_other_setting")) return;
  JsonFields other = fields.inside("attention_other_setting");
  const std::string kind = other.text_or("attention_type", "sliding_attention");
  const std::vector<std::string> types = reader.layer_types();
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] != kind) continue;
    MixerPart& mixer = reader.layer(i).mixer;
    mixer.heads = other.size_or("num_attention_heads", kMaxHeads, mixer.heads);
    mixer.kv_heads = other.size_or("num_attention_groups", kMaxHeads, mixer.kv_heads);
    mixer.head_dim = mixer.value_dim = other.size_or("head_dim", kMaxWidth, mixer.head_dim);
  }
  fields.take_problems(other);
}

void read_step(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  const std::int64_t groups = fields.size_or("num_attention_groups", kMaxHeads, config->kv_heads);
  config->kv_heads = groups;
  reader.norm_heads();
  for (LayerPart& part : reader.layers()) {
    part.mixer.kv_heads = groups;
    if (fields.flag_or("use_head_wise_attn_gate", false)) part.mixer.gate_columns = 1;
  }
  reader.read_windows(no_layer, 1);
  read_step_heads(reader);
  reader.read_rotation();
  FeedForwardPart part = reader.experts({{"num_experts", "moe_num_experts"},
                                         {"num_experts_per_tok", "moe_top_k"},
                                         {"moe_intermediate_size"}});
  part.router.function = "sigmoid";
  reader.read_groups(&part.router);
  part.router.bias = fields.flag_or("use_moe_router_bias", true);
  part.shared_intermediate = fields.count_or(
      "share_expert_dim", kMaxWidth,
      fields.count_or("n_shared_experts", kMaxLayers, 1) * part.expert_intermediate);
  const std::vector<std::int64_t> sparse =
      fields.is_text("moe_layers_enum")
          ? enumerated_layers(reader, fields.text("moe_layers_enum"))
          : reader.sparse_from(fields.count_or("first_k_dense_replace", kMaxLayers, 3), 1);
  reader.spread_experts(part, sparse);
  reader.draft_layers({"num_nextn_predict_layers"});
}

// Step-3: queries in two products (arXiv 2507.19427), one head of keys and values.
void read_step3(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {7168, 61, 64, 1, 256, 18432, 128815, 65536});
  const std::int64_t rank = fields.size_or("share_q_dim", kMaxWidth, 2048);
  for (LayerPart& part : reader.layers()) part.mixer.query_rank = rank;
  reader.read_rotation();
  FeedForwardPart part =
      reader.experts({{"moe_num_experts"}, {"moe_top_k"}, {"moe_intermediate_size"}, 48, 3, 5120});
  part.shared_intermediate =
      fields.count_or("share_expert_dim", kMaxWidth, part.expert_intermediate);
  std::vector<std::int64_t> sparse = reader.sparse_from(4, 1);
  sparse.back() = 0;  // the first four and the last are dense unless the file says otherwise
  if (fields.is_text("moe_layers_enum"))
    sparse = enumerated_layers(reader, fields.text("moe_layers_enum"));
  if (fields.is_list("moe_layers_enum")) {
    std::fill(sparse.begin(), sparse.end(), 0);
    reader.set_listed("moe_layers_enum", 1, &sparse);
  }
  reader.spread_experts(part, sparse);
}

// JetMoe: experts in the place of attention's projections, too.
void read_jetmoe(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {2048, 12, 32, 16, 128, 5632, 32000, 4096});
  FeedForwardPart part = reader.experts({{"num_local_experts", "moe_num_experts"},
                                         {"num_experts_per_tok", "moe_top_k"},
                                         {"intermediate_size", "ffn_hidden_size"},
                                         8,
                                         2,
                                         5632});
  part.activation = reader.activation({"activation_function"}, part.activation);
  config->heads = config->kv_heads * part.top_k;
  if (fields.has("num_attention_heads") &&
      fields.size("num_attention_heads", kMaxHeads) != config->heads) {
    fields.problem("num_attention_heads", "contradiction: " + std::to_string(part.top_k) +
                                              " experts of " + std::to_string(config->kv_heads) +
                                              " heads each are " + std::to_string(config->heads));
  }
  for (LayerPart& layer : reader.layers()) {
    layer.mixer.heads = config->heads;
    layer.mixer.head_experts = part.experts;
    layer.mixer.output_bias = fields.flag_or("bias", true);
  }
  reader.read_rotation();
  reader.spread_experts(part, reader.sparse_from(0, 1));
}

}  // namespace

std::vector<ModelType> expert_network_types() {
  return {
      {"llama4", "Llama4", {}, read_llama4, false},
      {"minimax_m2", "MiniMaxM2", {}, read_minimax_m2, false},
      {"minimax_m3", "MiniMaxM3", {}, read_minimax_m3, false},
      {"minimax_m3_vl", "MiniMaxM3Sparse", {}, read_minimax_m3, false},
      {"mimo_v2_flash", "MiMoV2Flash", {}, read_mimo_v2, false},
      {"step3_vl", "Step3VL", {}, read_step3, false},
      {"step3_text", "Step3Text", {}, read_step3, false},
      {"step3p5", "Step3p5", {}, read_step, false},
      {"step3p7", "Step3p7", {}, read_step, false},
      {"jetmoe", "JetMoe", {}, read_jetmoe, true},
  };
}

}  // namespace foretell
