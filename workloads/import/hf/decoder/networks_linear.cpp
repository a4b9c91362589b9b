// config.json of decoders with linear recurrences: Qwen3-Next and Qwen3.5, Nemotron-H, Granite 4,
// Bamba, Mamba-2, RWKV-7.
#include <algorithm>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

DType read_state_type(JsonFields& fields, std::string_view key) {
  const std::string name = fields.text_or(key, "float32");
  if (name == "float32") return DType::kFp32;
  if (name == "bfloat16") return DType::kBf16;
  if (name == "float16") return DType::kFp16;
  fields.problem(key,
                 unknown_name("type of states", name, {"float32", "bfloat16", "float16"}).what());
  return DType::kFp32;
}

MixerPart read_gated_delta(JsonFields& fields) {
  MixerPart mixer;
  mixer.kind = MixerKind::kLinear;
  mixer.function = "gated_delta";
  mixer.kv_heads = fields.size_or("linear_num_key_heads", kMaxHeads, 16);
  mixer.heads = fields.size_or("linear_num_value_heads", kMaxHeads, 32);
  mixer.head_dim = fields.size_or("linear_key_head_dim", kMaxWidth, 128);
  mixer.value_dim = fields.size_or("linear_value_head_dim", kMaxWidth, 128);
  mixer.conv_kernel = fields.size_or("linear_conv_kernel_dim", kMaxHeads, 4);
  mixer.chunk = 64;
  mixer.gate_columns = mixer.value_dim;
  mixer.state_type = read_state_type(fields, "mamba_ssm_dtype");
  if (mixer.heads % mixer.kv_heads != 0) {
    fields.problem(
        "linear_num_value_heads",
        "must be a multiple of the " + std::to_string(mixer.kv_heads) + " of linear_num_key_heads");
    mixer.heads = mixer.kv_heads;
  }
  return mixer;
}

void read_qwen_hybrid(JsonFields& fields, ModelConfig* config, bool experts) {
  PartsReader reader(fields, config, {2048, 48, 16, 2, 256, 5632, 151936, 32768});
  const MixerPart linear = read_gated_delta(fields);
  const std::int64_t interval = fields.size_or("full_attention_interval", kMaxLayers, 4);
  const std::vector<std::string> types = reader.layer_types();
  for (std::size_t i = 0; i < reader.layers().size(); ++i) {
    MixerPart& mixer = reader.layer(i).mixer;
    const bool is_linear = types.empty() ? (static_cast<std::int64_t>(i) + 1) % interval != 0
                                         : types[i] == "linear_attention";
    if (!types.empty() && !is_linear && types[i] != "full_attention") {
      fields.problem("layer_types", "'" + types[i] +
                                        "' cannot be imported; known are linear_attention and "
                                        "full_attention");
    }
    if (is_linear) {
      mixer = linear;
      continue;
    }
    mixer.head_norm = HeadNorm::kPerHead;
    if (fields.flag_or("attn_output_gate", true)) mixer.gate_columns = mixer.value_dim;
  }
  reader.read_rotation(0.25);
  reader.draft_layers({"mtp_num_hidden_layers", "num_nextn_predict_layers"});
  if (!experts) return;
  FeedForwardPart part = reader.experts(
      {{"num_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"}, 512, 10, 512});
  part.shared_intermediate = fields.count_or("shared_expert_intermediate_size", kMaxWidth, 512);
  part.shared_gate = part.shared_intermediate > 0;
  reader.spread_experts(part, reader.sparse_by_step());
}

void read_qwen35(JsonFields& fields, ModelConfig* config) {
  read_qwen_hybrid(fields, config, false);
}

void read_qwen35_moe(JsonFields& fields, ModelConfig* config) {
  read_qwen_hybrid(fields, config, true);
}

MixerPart mamba2(std::int64_t heads, std::int64_t head_dim, std::int64_t groups,
                 std::int64_t state) {
  MixerPart mixer;
  mixer.kind = MixerKind::kLinear;
  mixer.function = "mamba2";
  mixer.heads = heads;
  mixer.kv_heads = groups;
  mixer.head_dim = state;
  mixer.value_dim = head_dim;
  mixer.gate_columns = head_dim;
  return mixer;
}

// 'M' is a scan, '*' attention, '-' a dense network, 'E' experts: one of them per layer.
std::string nemotron_pattern(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  std::string pattern = fields.text_or("hybrid_override_pattern", "");
  for (const std::string& type : fields.texts("layers_block_type")) {
    pattern += type == "mamba" ? 'M' : type == "attention" ? '*' : type == "moe" ? 'E' : '-';
  }
  if (pattern.size() == reader.layers().size()) return pattern;
  fields.problem("hybrid_override_pattern",
                 "contradiction: names " + std::to_string(pattern.size()) +
                     " layers, but num_hidden_layers is " + std::to_string(reader.layers().size()));
  return std::string(reader.layers().size(), '-');
}

FeedForwardPart nemotron_experts(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  FeedForwardPart part =
      reader.experts({{"n_routed_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"}});
  part.router.function = "sigmoid";
  part.router.bias = true;
  reader.read_groups(&part.router);
  part.expert_hidden = fields.size_or("moe_latent_size", kMaxWidth, part.expert_hidden);
  part.shared_intermediate = fields.count_or("n_shared_experts", kMaxLayers, 1) *
                             fields.count_or("moe_shared_expert_intermediate_size", kMaxWidth, 0);
  return part;
}

void read_nemotron_h(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {4096, 52, 32, 8, 128, 21504, 131072, 4096});
  for (LayerPart& part : reader.layers()) {
    part.form = LayerForm::kSingle;
    part.feed_forward.gated = false;
    part.feed_forward.activation = fields.text_or("mlp_hidden_act", "relu2");
  }
  MixerPart scan = mamba2(fields.size_or("mamba_num_heads", kMaxHeads, 128),
                          fields.size_or("mamba_head_dim", kMaxWidth, 64),
                          fields.size_or("n_groups", kMaxHeads, 8),
                          fields.size_or("ssm_state_size", kMaxWidth, 128));
  scan.conv_kernel = fields.size_or("conv_kernel", kMaxHeads, 4);
  scan.conv_bias = fields.flag_or("use_conv_bias", true);
  scan.chunk = fields.size_or("chunk_size", kMaxPositions, 128);
  scan.output_bias = fields.flag_or("use_bias", false);
  scan.state_type = read_state_type(fields, "mamba_ssm_cache_dtype");
  check_groups(fields, "n_groups", &scan);
  const std::string pattern = nemotron_pattern(reader);
  const bool sparse = pattern.find('E') != std::string::npos;
  const FeedForwardPart experts = sparse ? nemotron_experts(reader) : FeedForwardPart();
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    LayerPart& part = reader.layer(i);
    const bool mixes = pattern[i] == 'M' || pattern[i] == '*';
    if (pattern[i] == 'M') part.mixer = scan;
    if (!mixes) part.mixer.kind = MixerKind::kNone;
    if (mixes) part.feed_forward.kind = FeedForwardKind::kNone;
    if (pattern[i] == 'E') part.feed_forward = experts;
    if (!mixes && pattern[i] != 'E' && pattern[i] != '-') {
      fields.problem("hybrid_override_pattern",
                     std::string("'") + pattern[i] + "' is no layer; known are M, *, - and E");
      return;
    }
  }
  for (LayerPart& part : reader.layers()) {
    if (part.mixer.kind == MixerKind::kGrouped) part.mixer.rotary_dim = 0;  // no positions
  }
  reader.draft_layers({"num_nextn_predict_layers"});
}

// The scan of Mamba-2 by the fields of Granite 4 and Bamba.
MixerPart read_hybrid_scan(JsonFields& fields, const ModelConfig& config) {
  const std::int64_t expand = fields.size_or("mamba_expand", kMaxHeads, 2);
  const std::int64_t heads = fields.size_or("mamba_n_heads", kMaxHeads, 128);
  std::int64_t head_dim = std::max<std::int64_t>(1, expand * config.hidden / heads);
  if (!fields.is_text("mamba_d_head"))
    head_dim = fields.size_or("mamba_d_head", kMaxWidth, head_dim);
  MixerPart scan = mamba2(heads, head_dim, fields.size_or("mamba_n_groups", kMaxHeads, 1),
                          fields.size_or("mamba_d_state", kMaxWidth, 256));
  scan.conv_kernel = fields.size_or("mamba_d_conv", kMaxHeads, 4);
  scan.conv_bias = fields.flag_or("mamba_conv_bias", true);
  scan.chunk = fields.size_or("mamba_chunk_size", kMaxPositions, 256);
  check_groups(fields, "mamba_n_groups", &scan);
  return scan;
}

// Bamba: the layers that attend are listed, the others scan; a gated network after each.
void read_bamba(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {4096, 32, 32, 8, 0, 14336, 128000, 262144});
  const MixerPart scan = read_hybrid_scan(fields, *config);
  reader.read_rotation(0.5);
  const std::vector<std::int64_t> attends = fields.integers("attn_layer_indices");
  for (const std::int64_t layer : attends) {
    if (!reader.has_layer("attn_layer_indices", layer)) return;
  }
  for (std::int64_t i = 0; i < config->layers; ++i) {
    if (std::find(attends.begin(), attends.end(), i) == attends.end())
      reader.layer(static_cast<std::size_t>(i)).mixer = scan;
  }
}

void read_granite_hybrid(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {4096, 32, 32, 0, 0, 11008, 32000, 2048});
  const MixerPart scan = read_hybrid_scan(fields, *config);
  if (fields.text_or("position_embedding_type", "rope") == "rope") reader.read_rotation();
  std::vector<std::string> types = reader.layer_types();
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == "mamba") reader.layer(i).mixer = scan;
  }
  const std::int64_t shared = fields.count_or("shared_intermediate_size", kMaxWidth, 1024);
  for (LayerPart& part : reader.layers())
    part.feed_forward.intermediate = std::max<std::int64_t>(1, shared);
  if (fields.count_or("num_local_experts", kMaxVocab, 0) == 0) return;
  FeedForwardPart part = reader.experts(
      {{"num_local_experts"}, {"num_experts_per_tok"}, {"intermediate_size"}, 8, 2, 0});
  part.shared_intermediate = shared;
  reader.spread_experts(part, reader.sparse_from(0, 1));
}

// The blocks of Zamba2: attention of twice the width and a feed-forward network, which its layers
// share, and low-rank matrices of the layers beside them.
SharedBlockPart read_shared_block(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  const std::int64_t hidden = reader.hidden();
  SharedBlockPart block;
  block.mixer = reader.layer(0).mixer;
  const std::int64_t width = fields.size_or("attention_hidden_size", kMaxWidth, 2 * hidden);
  block.mixer.head_dim = block.mixer.value_dim = fields.size_or(
      "attention_head_dim", kMaxWidth, std::max<std::int64_t>(1, width / block.mixer.heads));
  block.mixer.qkv_bias = block.mixer.output_bias = false;
  block.mixer.rotary_dim = fields.flag_or("use_mem_rope", false) ? block.mixer.head_dim : 0;
  block.feed_forward = reader.layer(0).feed_forward;
  block.feed_forward.activation = fields.text_or("hidden_act", "gelu");
  block.feed_forward.bias = fields.flag_or("add_bias_linear", false);
  const std::int64_t rank = fields.size_or("adapter_rank", kMaxWidth, 128);
  if (fields.flag_or("use_shared_attention_adapter", false)) block.mixer.adapter_rank = rank;
  if (fields.flag_or("use_shared_mlp_adapter", true)) block.feed_forward.adapter_rank = rank;
  if (block.mixer.heads * block.mixer.head_dim != width) {
    fields.problem("attention_head_dim", "contradiction: " + std::to_string(block.mixer.heads) +
                                             " heads of " + std::to_string(block.mixer.head_dim) +
                                             " do not make attention_hidden_size, " +
                                             std::to_string(width));
  }
  return block;
}

// Which layers have one: by number, or by a word for each layer.
std::vector<std::int64_t> zamba_hybrids(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  std::vector<std::int64_t> hybrids = fields.integers("hybrid_layer_ids");
  const std::vector<std::string> types = fields.texts("layers_block_type");
  std::vector<std::int64_t> named;
  for (std::size_t i = 0; i < types.size(); ++i) {
    if (types[i] == "hybrid") named.push_back(static_cast<std::int64_t>(i));
    if (types[i] == "hybrid" || types[i] == "mamba") continue;
    fields.problem("layers_block_type",
                   unknown_name("kind of layer", types[i], {"mamba", "hybrid"}).what());
    return {};
  }
  if (!types.empty() && !reader.names_layers("layers_block_type", types.size())) return {};
  if (hybrids.empty()) hybrids = named;
  if (!types.empty() && hybrids != named)
    fields.problem("hybrid_layer_ids", "contradiction: layers_block_type names others");
  if (hybrids.empty())
    fields.problem("hybrid_layer_ids", "must list the layers with a shared block");
  for (const std::int64_t layer : hybrids) {
    if (!reader.has_layer("hybrid_layer_ids", layer)) return {};
  }
  return hybrids;
}

void read_zamba2(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {2560, 54, 32, 0, 0, 10240, 32000, 4096});
  const std::int64_t expand = fields.size_or("mamba_expand", kMaxHeads, 2);
  const std::int64_t head_dim = fields.size_or("mamba_headdim", kMaxWidth, 64);
  const std::int64_t heads = fields.size_or(
      "n_mamba_heads", kMaxHeads, std::max<std::int64_t>(1, expand * config->hidden / head_dim));
  if (heads * head_dim != expand * config->hidden) {
    fields.problem("n_mamba_heads", "contradiction: " + std::to_string(heads) + " heads of " +
                                        std::to_string(head_dim) + " do not make " +
                                        std::to_string(expand) + " times the hidden size");
  }
  MixerPart scan = mamba2(heads, head_dim, fields.size_or("mamba_ngroups", kMaxHeads, 1),
                          fields.size_or("mamba_d_state", kMaxWidth, 64));
  scan.conv_kernel = fields.size_or("mamba_d_conv", kMaxHeads, 4);
  scan.conv_bias = fields.flag_or("use_conv_bias", true);
  scan.chunk = fields.size_or("chunk_size", kMaxPositions, 256);
  check_groups(fields, "mamba_ngroups", &scan);
  const SharedBlockPart block = read_shared_block(reader);
  const std::int64_t sets = fields.size_or("num_mem_blocks", kMaxLayers, 1);
  check_rotation_kind(fields);
  for (LayerPart& part : reader.layers()) {
    part.mixer = scan;
    part.form = LayerForm::kSingle;
    part.feed_forward.kind = FeedForwardKind::kNone;
  }
  std::int64_t next = 0;
  for (const std::int64_t layer : zamba_hybrids(reader)) {
    SharedBlockPart& shared = reader.layer(static_cast<std::size_t>(layer)).shared;
    shared = block;
    shared.weights = next++ % sets;
  }
}

// Neither attention nor positions: one scan per layer.
void plain_sizes(JsonFields& fields, ModelConfig* config) {
  config->family = Family::kDecoder;
  config->norm = Norm::kRmsNorm;
  config->position_kind = Positions::kRotary;
  config->layers = fields.size("num_hidden_layers", kMaxLayers);
  config->hidden = config->embedding = fields.size("hidden_size", kMaxWidth);
  config->vocab = fields.size("vocab_size", kMaxVocab);
  config->max_seq_len = fields.size_or("max_position_embeddings", kMaxPositions, kMaxSequence);
}

void read_mamba2(JsonFields& fields, ModelConfig* config) {
  plain_sizes(fields, config);
  const std::int64_t head_dim = fields.size_or("head_dim", kMaxWidth, 64);
  const std::int64_t expand = fields.size_or("expand", kMaxHeads, 2);
  const std::int64_t heads = fields.size_or(
      "num_heads", kMaxHeads, std::max<std::int64_t>(1, expand * config->hidden / head_dim));
  MixerPart scan = mamba2(heads, head_dim, fields.size_or("n_groups", kMaxHeads, 8),
                          fields.size_or("state_size", kMaxWidth, 128));
  if (heads * head_dim != expand * config->hidden) {
    fields.problem("num_heads", "contradiction: " + std::to_string(heads) + " heads of " +
                                    std::to_string(head_dim) + " do not make " +
                                    std::to_string(expand) + " times the hidden size");
  }
  scan.conv_kernel = fields.size_or("conv_kernel", kMaxHeads, 4);
  scan.conv_bias = fields.flag_or("use_conv_bias", true);
  scan.output_bias = fields.flag_or("use_bias", false);
  scan.chunk = fields.size_or("chunk_size", kMaxPositions, 256);
  check_groups(fields, "n_groups", &scan);
  config->heads = config->kv_heads = heads;
  config->head_dim = head_dim;
  LayerPart part;
  part.mixer = scan;
  part.form = LayerForm::kSingle;
  part.feed_forward.kind = FeedForwardKind::kNone;
  config->parts_of_decoder.layers.assign(static_cast<std::size_t>(config->layers), part);
}

void read_rwkv7(JsonFields& fields, ModelConfig* config) {
  plain_sizes(fields, config);
  config->norm = Norm::kLayerNorm;
  config->parts_of_decoder.layer_norm = true;
  MixerPart mixer;
  mixer.kind = MixerKind::kLinear;
  mixer.function = "rwkv7";
  mixer.head_dim = mixer.value_dim = fields.size_or("head_dim", kMaxWidth, 64);
  mixer.heads = mixer.kv_heads = std::max<std::int64_t>(1, config->hidden / mixer.head_dim);
  mixer.chunk = 64;
  mixer.decay_per_key = true;
  mixer.decay_rank = fields.size_or("decay_low_rank_dim", kMaxWidth, 64);
  mixer.gate_rank = fields.size_or("gate_low_rank_dim", kMaxWidth, 128);
  mixer.rate_rank = fields.size_or("a_low_rank_dim", kMaxWidth, 64);
  mixer.value_rank = fields.size_or("v_low_rank_dim", kMaxWidth, 32);
  mixer.gate_columns = mixer.value_dim;
  config->heads = config->kv_heads = mixer.heads;
  config->head_dim = mixer.head_dim;
  LayerPart part;
  part.mixer = mixer;
  part.feed_forward.gated = false;
  part.feed_forward.activation = fields.text_or("hidden_act", "sqrelu");
  part.feed_forward.intermediate =
      fields.size_or("intermediate_size", kMaxWidth, 4 * config->hidden);
  config->parts_of_decoder.layers.assign(static_cast<std::size_t>(config->layers), part);
}

}  // namespace

std::vector<ModelType> linear_network_types() {
  return {
      {"qwen3_next", "Qwen3Next", {}, read_qwen35_moe, false},
      {"qwen3_5", "Qwen3_5", {}, read_qwen35, false},
      {"qwen3_5_moe", "Qwen3_5Moe", {}, read_qwen35_moe, false},
      {"nemotron_h", "NemotronH", {}, read_nemotron_h, false},
      {"granitemoehybrid", "GraniteMoeHybrid", {}, read_granite_hybrid, true},
      {"zamba2", "Zamba2", {}, read_zamba2, true},
      {"bamba", "Bamba", {}, read_bamba, false},
      {"mamba2", "Mamba2", {}, read_mamba2, false},
      {"rwkv7", "RWKV7", {}, read_rwkv7, false},
  };
}

}  // namespace foretell
