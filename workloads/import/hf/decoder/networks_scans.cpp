// config.json of decoders that mix scans and attention in other ways than one per layer or with
// other recurrences: Falcon-H1, MiniMax-M1, Jamba, Mamba, LFM2, RecurrentGemma.
#include <algorithm>

#include "model/base/errors.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

// A scan of Mamba-2 and attention side by side in every layer.
void read_falcon_h1(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  reader.read_rotation();
  MixerPart scan;
  scan.kind = MixerKind::kLinear;
  scan.function = "mamba2";
  scan.heads = fields.size_or("mamba_n_heads", kMaxHeads, 128);
  scan.kv_heads = fields.size_or("mamba_n_groups", kMaxHeads, 1);
  scan.head_dim = fields.size_or("mamba_d_state", kMaxWidth, 256);
  const std::int64_t expand = fields.size_or("mamba_expand", kMaxHeads, 2);
  const std::int64_t width = fields.size_or("mamba_d_ssm", kMaxWidth, expand * config->hidden);
  scan.value_dim = std::max<std::int64_t>(1, width / scan.heads);
  if (!fields.is_text("mamba_d_head"))
    scan.value_dim = fields.size_or("mamba_d_head", kMaxWidth, scan.value_dim);
  if (scan.heads * scan.value_dim != width) {
    fields.problem("mamba_n_heads", "contradiction: " + std::to_string(scan.heads) + " heads of " +
                                        std::to_string(scan.value_dim) + " do not make " +
                                        std::to_string(width) + " columns");
  }
  scan.gate_columns = scan.value_dim;
  scan.conv_kernel = fields.size_or("mamba_d_conv", kMaxHeads, 4);
  scan.conv_bias = fields.flag_or("mamba_conv_bias", true);
  scan.output_bias = fields.flag_or("mamba_proj_bias", false);
  scan.chunk = fields.size_or("mamba_chunk_size", kMaxPositions, 256);
  check_groups(fields, "mamba_n_groups", &scan);
  for (LayerPart& part : reader.layers()) part.beside = scan;
}

// Lightning attention: a linear recurrence whose decay is a constant of the head.
void read_minimax_m1(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  MixerPart linear;
  linear.kind = MixerKind::kLinear;
  linear.function = "lightning";
  linear.heads = linear.kv_heads = config->heads;
  linear.head_dim = linear.value_dim = config->head_dim;
  linear.gate_columns = linear.value_dim;
  linear.chunk = fields.size_or("block", kMaxPositions, 256);
  std::vector<std::int64_t> softmax = fields.integers("attn_type_list");
  const std::vector<std::string> types = reader.layer_types();
  if (softmax.empty()) {
    for (const std::string& type : types) softmax.push_back(type == "full_attention" ? 1 : 0);
  }
  if (!reader.has_entry_per_layer("attn_type_list", softmax.size())) return;
  for (std::size_t i = 0; i < softmax.size(); ++i) {
    if (softmax[i] == 0) reader.layer(i).mixer = linear;
  }
  reader.read_rotation();
  FeedForwardPart part =
      reader.experts({{"num_local_experts"}, {"num_experts_per_tok"}, {"intermediate_size"}});
  const std::int64_t shared = first_of_list(fields, "shared_intermediate_size", kMaxWidth, 0);
  part.shared_intermediate = shared;
  reader.spread_experts(part, reader.sparse_from(0, 1));
}

// The selective scan of Mamba: each channel is a head with one value and `state` keys.
MixerPart selective_scan(JsonFields& fields, std::int64_t hidden, bool in_jamba) {
  const auto key = [in_jamba](const char* jamba, const char* mamba) {
    return std::string_view(in_jamba ? jamba : mamba);
  };
  MixerPart scan;
  scan.kind = MixerKind::kLinear;
  scan.function = "mamba1";
  const std::int64_t expand = fields.size_or(key("mamba_expand", "expand"), kMaxHeads, 2);
  scan.heads =
      in_jamba ? expand * hidden : fields.size_or("intermediate_size", kMaxWidth, expand * hidden);
  scan.kv_heads = 1;
  scan.head_dim = fields.size_or(key("mamba_d_state", "state_size"), kMaxWidth, 16);
  scan.value_dim = 1;
  scan.gate_columns = 1;
  scan.conv_kernel = fields.size_or(key("mamba_d_conv", "conv_kernel"), kMaxHeads, 4);
  scan.conv_bias = fields.flag_or(key("mamba_conv_bias", "use_conv_bias"), true);
  scan.output_bias = fields.flag_or(key("mamba_proj_bias", "use_bias"), false);
  const std::string_view rank = key("mamba_dt_rank", "time_step_rank");
  const std::int64_t otherwise = (hidden + 15) / 16;  // "auto" of the publishers' code
  scan.decay_rank = fields.is_text(rank) ? otherwise : fields.size_or(rank, kMaxWidth, otherwise);
  scan.chunk = 1;  // one token after the other
  return scan;
}

void read_jamba(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {4096, 32, 32, 8, 0, 14336, 65536, 262144});
  const MixerPart scan = selective_scan(fields, config->hidden, true);
  const std::int64_t period = fields.size_or("attn_layer_period", kMaxLayers, 8);
  const std::int64_t offset = fields.count_or("attn_layer_offset", kMaxLayers, 4);
  const std::int64_t step = fields.size_or("expert_layer_period", kMaxLayers, 2);
  const std::int64_t first = fields.count_or("expert_layer_offset", kMaxLayers, 1);
  std::vector<std::int64_t> sparse;
  for (std::int64_t i = 0; i < config->layers; ++i) {
    if (i % period != offset) reader.layer(static_cast<std::size_t>(i)).mixer = scan;
    sparse.push_back(i % step == first ? 1 : 0);
  }
  if (fields.size_or("num_experts", kMaxVocab, 16) == 1) return;
  reader.spread_experts(
      reader.experts({{"num_experts"}, {"num_experts_per_tok"}, {"intermediate_size"}, 16, 2, 0}),
      sparse);
}

void read_mamba(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {0, 0, 1, 1, 1, 0, 0, kMaxSequence});
  const MixerPart scan = selective_scan(fields, config->hidden, false);
  config->heads = config->kv_heads = scan.heads;
  for (LayerPart& part : reader.layers()) {
    part.mixer = scan;
    part.form = LayerForm::kSingle;
    part.feed_forward.kind = FeedForwardKind::kNone;
  }
}

// A gated convolution over three tokens in most layers, attention in the others.
void read_lfm2(JsonFields& fields, ModelConfig* config, bool experts) {
  PartsReader reader(fields, config, {2560, 32, 32, 8, 0, 12288, 65536, 128000});
  reader.norm_heads();
  reader.read_rotation();
  MixerPart convolution;
  convolution.kind = MixerKind::kLinear;
  convolution.function = "gated_convolution";
  convolution.heads = convolution.kv_heads = config->heads;
  convolution.head_dim = convolution.value_dim =
      std::max<std::int64_t>(1, config->hidden / config->heads);
  convolution.conv_kernel = fields.size_or("conv_L_cache", kMaxHeads, 3);
  convolution.conv_bias = fields.flag_or("conv_bias", false);
  std::vector<std::int64_t> attends(reader.layers().size(), 0);
  reader.set_listed("full_attn_idxs", 1, &attends);
  const std::vector<std::string> types = reader.layer_types();
  for (std::size_t i = 0; i < attends.size(); ++i) {
    if (!types.empty()) attends[i] = types[i] == "full_attention" ? 1 : 0;
    if (attends[i] == 0) reader.layer(i).mixer = convolution;
  }
  std::int64_t width = fields.size_or("block_ff_dim", kMaxWidth, config->intermediate);
  if (!experts && fields.flag_or("block_auto_adjust_ff_dim", true)) {
    const double factor = fields.number_or("block_ffn_dim_multiplier", 1);
    const std::int64_t multiple = fields.size_or("block_multiple_of", kMaxWidth, 256);
    const std::int64_t gated = 2 * width / 3;
    width = static_cast<std::int64_t>(factor * static_cast<double>(gated));
    width = std::max<std::int64_t>(1, (width + multiple - 1) / multiple) * multiple;
  }
  for (LayerPart& part : reader.layers()) part.feed_forward.intermediate = width;
  if (!experts) return;
  FeedForwardPart part =
      reader.experts({{"num_experts"}, {"num_experts_per_tok"}, {"moe_intermediate_size"}});
  part.router.function = "sigmoid";
  part.router.bias = fields.flag_or("use_expert_bias", true);
  reader.spread_experts(part,
                        reader.sparse_from(fields.count_or("num_dense_layers", kMaxLayers, 2), 1));
}

// RecurrentGemma: a recurrence of one number per channel (RG-LRU) in most layers.
void read_recurrent_gemma(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {2560, 26, 10, 0, 0, 7680, 256000, 8192});
  reader.read_rotation(0.5);
  MixerPart scan;
  scan.kind = MixerKind::kLinear;
  scan.function = "rg_lru";
  scan.heads = scan.kv_heads = fields.size_or("lru_width", kMaxWidth, config->hidden);
  scan.head_dim = scan.value_dim = 1;
  scan.gate_columns = 1;
  scan.gate_block = std::max<std::int64_t>(1, scan.heads / config->heads);
  scan.conv_kernel = fields.size_or("conv1d_width", kMaxHeads, 4);
  scan.conv_bias = scan.output_bias = true;
  scan.chunk = 1;  // one token after the other
  if (scan.gate_block * config->heads != scan.heads) {
    fields.problem("lru_width", "contradiction: " + std::to_string(scan.heads) +
                                    " columns do not divide into " + std::to_string(config->heads) +
                                    " blocks of gates");
  }
  std::vector<std::string> kinds = fields.texts("block_types");
  if (kinds.empty()) kinds = {"recurrent", "recurrent", "attention"};
  const std::int64_t window = fields.size_or("attention_window_size", kMaxPositions, 2048);
  for (std::size_t i = 0; i < reader.layers().size(); ++i) {
    const std::string& kind = kinds[i % kinds.size()];
    if (kind != "recurrent" && kind != "attention") {
      return fields.problem("block_types",
                            unknown_name("kind of block", kind, {"recurrent", "attention"}).what());
    }
    LayerPart& part = reader.layer(i);
    part.mixer.window = window;
    part.mixer.output_bias = part.feed_forward.bias = true;
    if (!fields.has("hidden_activation")) part.feed_forward.activation = "gelu_pytorch_tanh";
    // The file's number is that of gate and up together.
    part.feed_forward.intermediate = std::max<std::int64_t>(1, config->intermediate / 2);
    if (kind == "recurrent") part.mixer = scan;
  }
}

void read_lfm2_dense(JsonFields& fields, ModelConfig* config) { read_lfm2(fields, config, false); }
void read_lfm2_moe(JsonFields& fields, ModelConfig* config) { read_lfm2(fields, config, true); }

}  // namespace

std::vector<ModelType> scan_network_types() {
  return {
      {"falcon_h1", "FalconH1", {}, read_falcon_h1, false},
      {"minimax_m1", "MiniMaxM1", {}, read_minimax_m1, false},
      {"minimax_text_01", "MiniMaxText01", {}, read_minimax_m1, false},
      {"jamba", "Jamba", {}, read_jamba, false},
      {"mamba", "Mamba", {}, read_mamba, true},
      {"falcon_mamba", "FalconMamba", {}, read_mamba, true},
      {"recurrent_gemma", "RecurrentGemma", {}, read_recurrent_gemma, true},
      {"lfm2", "Lfm2", {}, read_lfm2_dense, true},
      {"lfm2_moe", "Lfm2Moe", {}, read_lfm2_moe, true},
  };
}

}  // namespace foretell
