// config.json of decoders with latent attention: DeepSeek, Kimi, GLM-5.
#include <algorithm>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

// Layers that read what an earlier one chose (GLM-5.2): named one by one, or all but every so
// many-th from an offset on.
void read_shared_choices(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  std::vector<LayerPart>& layers = reader.layers();
  if (fields.is_list("indexer_types")) {
    const std::vector<std::string> types = fields.texts("indexer_types");
    if (types.size() != layers.size()) {
      fields.problem("indexer_types", "contradiction: names " + std::to_string(types.size()) +
                                          " layers, but num_hidden_layers is " +
                                          std::to_string(layers.size()));
      return;
    }
    for (std::size_t i = 0; i < layers.size(); ++i) {
      layers[i].mixer.indexer.shared = types[i] == "shared";
    }
    if (layers.front().mixer.indexer.shared) {
      fields.problem("indexer_types", "the first layer has no earlier one whose choice it reads");
    }
    return;
  }
  const std::int64_t every = fields.size_or("index_topk_freq", kMaxLayers, 1);
  const std::int64_t offset = fields.count_or("index_skip_topk_offset", kMaxLayers, 1);
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::int64_t past = static_cast<std::int64_t>(i) + 1 - offset;
    layers[i].mixer.indexer.shared = past > 0 && past % every != 0;
  }
}

void read_latent_attention(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  MixerPart mixer = reader.layer(0).mixer;
  mixer.kind = MixerKind::kLatent;
  mixer.query_rank = fields.count_or("q_lora_rank", kMaxWidth, 0);
  mixer.kv_rank = fields.size_or("kv_lora_rank", kMaxWidth, 512);
  mixer.rope_dim = fields.size_or("qk_rope_head_dim", kMaxWidth, 64);
  mixer.rotary_dim = fields.flag_or("mla_use_nope", false) ? 0 : mixer.rope_dim;
  mixer.head_dim = fields.size_or("qk_nope_head_dim", kMaxWidth, 128) + mixer.rope_dim;
  mixer.value_dim = fields.size_or("v_head_dim", kMaxWidth, 128);
  mixer.kv_heads = mixer.heads;
  mixer.qkv_bias = mixer.output_bias = false;
  if (fields.flag_or("attention_bias", false))
    reader.note("attention_bias: biases of latent attention are left out");
  if (fields.flag_or("mla_use_output_gate", false)) mixer.gate_columns = mixer.value_dim;
  if (fields.has("index_topk")) {
    mixer.indexer.heads = fields.size("index_n_heads", kMaxHeads);
    mixer.indexer.head_dim = fields.size("index_head_dim", kMaxWidth);
    mixer.indexer.top_k = fields.size("index_topk", kMaxPositions);
    mixer.indexer.narrow = true;
  }
  for (LayerPart& part : reader.layers()) part.mixer = mixer;
  if (mixer.indexer.heads > 0) read_shared_choices(reader);
  reader.config().head_dim = mixer.head_dim;
  reader.config().kv_heads = reader.config().heads;
}

void read_deepseek_experts(PartsReader& reader, const std::string& function) {
  JsonFields& fields = reader.fields();
  if (!fields.has("n_routed_experts") && !fields.has("num_experts")) return;
  FeedForwardPart part = reader.experts({{"n_routed_experts", "num_experts"},
                                         {"num_experts_per_tok", "num_experts_per_token"},
                                         {"moe_intermediate_size"}});
  part.router.function = function;
  part.router.bias = function != "softmax";
  reader.read_groups(&part.router);
  const std::int64_t shared = fields.count_or("n_shared_experts", kMaxLayers,
                                              fields.count_or("num_shared_experts", kMaxLayers, 0));
  part.shared_intermediate = shared * part.expert_intermediate;
  if (fields.has("routed_expert_hidden_size"))
    part.expert_hidden = fields.size("routed_expert_hidden_size", kMaxWidth);
  std::vector<std::int64_t> sparse;
  const std::int64_t dense = fields.count_or("first_k_dense_replace", kMaxLayers, 0);
  if (fields.is_list("moe_layer_freq")) {
    sparse = reader.per_layer("moe_layer_freq");
  } else {
    sparse = reader.sparse_by_words(
        "mlp_layer_types",
        reader.sparse_from(dense, fields.size_or("moe_layer_freq", kMaxLayers, 1)));
  }
  reader.spread_experts(part, sparse);
}

void read_deepseek(JsonFields& fields, ModelConfig* config, const std::string& function) {
  PartsReader reader(fields, config, {7168, 61, 128, 128, 0, 18432, 129280, 4096});
  if (fields.flag_or("use_mla", true)) read_latent_attention(reader);
  reader.read_rotation();
  read_deepseek_experts(reader, function);
  reader.draft_layers({"num_nextn_predict_layers"});
}

void read_minicpm3(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {2560, 62, 40, 40, 0, 6400, 73448, 32768});
  read_latent_attention(reader);
  reader.read_rotation();
}

void read_deepseek_v2(JsonFields& fields, ModelConfig* config) {
  read_deepseek(fields, config, "softmax");
}

void read_deepseek_v3(JsonFields& fields, ModelConfig* config) {
  read_deepseek(fields, config, "sigmoid");
}

// LongCat-Flash: two of latent attention and a dense network make a layer, and experts beside the
// second half of the first and the whole of the second; they are two layers here.
void read_longcat(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {6144, 28, 64, 64, 0, 12288, 131072, 131072});
  const std::string method = fields.text_or("attention_method", "MLA");
  if (method != "MLA") {
    fields.problem("attention_method", unknown_name("kind of attention", method, {"MLA"}).what());
  }
  read_latent_attention(reader);
  reader.read_rotation();
  FeedForwardPart experts = reader.experts({{"n_routed_experts"},
                                            {"moe_topk", "num_experts_per_tok"},
                                            {"expert_ffn_hidden_size", "moe_intermediate_size"}});
  experts.router.bias = true;
  experts.idle_experts = fields.count_or("zero_expert_num", kMaxVocab, 0);
  const std::string kind = fields.text_or("zero_expert_type", "identity");
  if (kind != "identity") {
    fields.problem("zero_expert_type", unknown_name("kind of expert", kind, {"identity"}).what());
  }
  if (experts.idle_experts > 0) {
    reader.note(
        "zero_expert_num: of the experts of a token as many compute as a router that "
        "prefers none chooses, on average");
  }
  const LayerPart layer = reader.layer(0);
  config->layers *= 2;
  reader.layers().assign(static_cast<std::size_t>(config->layers), layer);
  for (std::size_t i = 0; i < reader.layers().size(); ++i) {
    if (i % 2 == 0) reader.layer(i).aside = experts;
    reader.layer(i).joins_aside = i % 2 == 1;
  }
}

// The key-value pairs of some layers are compressed; the last entries are those of the draft heads.
void read_compression(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  std::vector<std::int64_t> ratios = fields.integers("compress_ratios");
  if (ratios.empty()) ratios.assign(reader.layers().size(), 0);
  if (ratios.size() < reader.layers().size()) {
    fields.problem("compress_ratios", "contradiction: has " + std::to_string(ratios.size()) +
                                          " entries, but num_hidden_layers is " +
                                          std::to_string(reader.layers().size()));
    return;
  }
  constexpr std::int64_t kWithIndexer = 4;  // the smaller ratio leaves enough to choose from
  IndexerPart indexer;
  indexer.heads = fields.size_or("index_n_heads", kMaxHeads, 64);
  indexer.head_dim = fields.size_or("index_head_dim", kMaxWidth, 128);
  indexer.top_k = fields.size_or("index_topk", kMaxPositions, 512);
  for (std::size_t i = 0; i < reader.layers().size(); ++i) {
    MixerPart& mixer = reader.layer(i).mixer;
    if (ratios[i] < 0 || ratios[i] > kMaxPositions) {
      fields.problem("compress_ratios", "holds " + std::to_string(ratios[i]) +
                                            "; ratios are 0 (none) or numbers of tokens");
      return;
    }
    mixer.ratio = ratios[i];
    if (mixer.ratio == kWithIndexer) mixer.indexer = indexer;
  }
}

void read_deepseek_v4(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {4096, 43, 64, 1, 512, 0, 129280, 65536});
  MixerPart mixer = reader.layer(0).mixer;
  mixer.kind = MixerKind::kCompressed;
  mixer.kv_heads = 1;
  mixer.query_rank = fields.size_or("q_lora_rank", kMaxWidth, 1024);
  mixer.rope_dim = mixer.rotary_dim = fields.size_or("qk_rope_head_dim", kMaxWidth, 64);
  mixer.window = fields.size_or("sliding_window", kMaxPositions, 128);
  mixer.output_groups = fields.size_or("o_groups", kMaxHeads, 8);
  mixer.output_rank = fields.size_or("o_lora_rank", kMaxWidth, 1024);
  mixer.keys_are_values = true;
  mixer.sinks = true;
  if (mixer.heads % mixer.output_groups != 0)
    fields.problem("o_groups", "must divide the " + std::to_string(mixer.heads) + " heads");
  for (LayerPart& part : reader.layers()) part.mixer = mixer;
  read_compression(reader);
  reader.read_rotation();
  read_deepseek_experts(reader, "sqrtsoftplus");
  const std::int64_t by_token = fields.count_or("num_hash_layers", kMaxLayers, 0);
  for (std::int64_t i = 0; i < std::min(by_token, config->layers); ++i)
    reader.layer(static_cast<std::size_t>(i)).feed_forward.router.by_token = true;
  config->parts_of_decoder.streams = fields.size_or("hc_mult", 64, 1);
  reader.draft_layers({"num_nextn_predict_layers"});
}

// One-based lists of layers of either kind.
void read_kimi_layers(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  if (!fields.has_object("linear_attn_config")) return;
  JsonFields linear = fields.inside("linear_attn_config");
  MixerPart mixer;
  mixer.kind = MixerKind::kLinear;
  mixer.function = "kimi_delta";
  mixer.heads = mixer.kv_heads = linear.size("num_heads", kMaxHeads);
  mixer.head_dim = mixer.value_dim = linear.size("head_dim", kMaxWidth);
  mixer.conv_kernel = linear.size_or("short_conv_kernel_size", kMaxHeads, 4);
  mixer.chunk = 64;
  mixer.decay_per_key = true;
  mixer.decay_rank = mixer.head_dim;
  mixer.gate_columns = mixer.value_dim;
  mixer.gate_rank = linear.flag_or("use_full_rank_gate", false) ? 0 : mixer.head_dim;
  std::vector<int> seen(reader.layers().size(), 0);
  const auto visit = [&](const char* key, bool is_linear) {
    for (const std::int64_t layer : linear.integers(key)) {
      if (layer < 1 || layer > static_cast<std::int64_t>(seen.size())) continue;
      const auto index = static_cast<std::size_t>(layer - 1);
      ++seen[index];
      if (is_linear) reader.layer(index).mixer = mixer;
    }
  };
  visit("full_attn_layers", false);
  visit("kda_layers", true);
  const auto wrong = std::find_if(seen.begin(), seen.end(), [](int count) { return count != 1; });
  if (wrong != seen.end()) {
    linear.problem("kda_layers", "contradiction: layer " +
                                     std::to_string(1 + (wrong - seen.begin())) + " is in " +
                                     (*wrong == 0 ? "neither" : "both") +
                                     " of kda_layers and full_attn_layers");
  }
  fields.take_problems(linear);
}

void read_kimi_linear(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  if (fields.has("kv_lora_rank")) read_latent_attention(reader);
  read_kimi_layers(reader);
  reader.read_rotation();
  read_deepseek_experts(reader, fields.text_or("moe_router_activation_func", "sigmoid"));
  reader.note_unused("attn_res_block_size",
                     "attention over the results of earlier blocks is left out");
  reader.draft_layers({"num_nextn_predict_layers"});
}

}  // namespace

std::vector<ModelType> latent_network_types() {
  return {
      {"minicpm3", "MiniCPM3", {}, read_minicpm3, true},
      {"longcat_flash", "LongcatFlash", {}, read_longcat, false},
      {"deepseek_v2", "DeepseekV2", {}, read_deepseek_v2, false},
      {"mistral4", "Mistral4", {}, read_deepseek_v2, false},
      {"deepseek_v3", "DeepseekV3", {}, read_deepseek_v3, false},
      {"deepseek_v32", "DeepseekV32", {}, read_deepseek_v3, false},
      {"kimi_k2", "KimiK2", {}, read_deepseek_v3, false},
      {"kimi_k25", "KimiK25", {}, read_deepseek_v3, false},
      {"glm_moe_dsa", "GlmMoeDsa", {}, read_deepseek_v3, false},
      {"glm4_moe_lite", "Glm4MoeLite", {}, read_deepseek_v3, false},
      {"deepseek_v4", "DeepseekV4", {}, read_deepseek_v4, false},
      {"kimi_linear", "KimiLinear", {}, read_kimi_linear, false},
      {"kimi_k3", "KimiK3", {}, read_kimi_linear, false},
  };
}

}  // namespace foretell
