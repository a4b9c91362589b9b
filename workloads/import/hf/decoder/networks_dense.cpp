// config.json of decoders without experts whose layers differ, or whose norms stand elsewhere.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "workloads/import/hf/config/architecture.hpp"
#include "workloads/import/hf/decoder/parts_reader.hpp"

namespace foretell {
namespace {

// In all but every n-th layer, one in `stride` of the blocks before the last few is seen.
void read_blocks_of_keys(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  const std::int64_t dense = fields.count_or("dense_attention_every_n_layers", kMaxLayers, 2);
  const std::int64_t block = fields.size_or("blocksparse_block_size", kMaxPositions, 64);
  const std::int64_t near = fields.size_or("blocksparse_num_local_blocks", kMaxPositions, 16);
  const std::int64_t stride = fields.size_or("blocksparse_vert_stride", kMaxPositions, 8);
  if (fields.flag_or("blocksparse_homo_head_pattern", false)) {
    fields.problem("blocksparse_homo_head_pattern",
                   "true, one pattern for all heads, cannot be imported; false can");
  }
  for (std::size_t i = 0; i < reader.layers().size(); ++i) {
    if (dense > 0 && (static_cast<std::int64_t>(i) + 1) % dense == 0) continue;
    reader.layer(i).mixer.window = std::min(kMaxPositions, near * block);
    reader.layer(i).mixer.stride = stride;
  }
}

void read_phi3small(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {4096, 32, 32, 8, 0, 0, 100352, 8192});
  reader.use_layer_norm();
  const std::int64_t width = reader.size({"ff_intermediate_size"}, kMaxWidth, 14336);
  for (LayerPart& part : reader.layers()) {
    part.mixer.qkv_bias = part.mixer.output_bias = part.feed_forward.bias = true;
    part.feed_forward.intermediate = width;
  }
  reader.read_rotation();
  read_blocks_of_keys(reader);
  reader.note(
      "attention over blocks of keys is timed as that to a window of as many; single tokens read "
      "the blocks of all heads that share keys");
}

// Layers at the end that read the cache of earlier ones; their feed-forward network may be wider.
void read_shared_caches(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  const std::int64_t shared = fields.count_or("num_kv_shared_layers", kMaxLayers, 0);
  const std::int64_t all = reader.config().layers;
  if (shared >= all && shared > 0) {
    fields.problem("num_kv_shared_layers", "contradiction: all layers read earlier ones");
    return;
  }
  const bool wide = fields.flag_or("use_double_wide_mlp", false);
  for (std::int64_t i = all - shared; i < all; ++i) {
    LayerPart& part = reader.layer(static_cast<std::size_t>(i));
    part.mixer.reads_earlier = true;
    if (wide) part.feed_forward.intermediate *= 2;
  }
}

void read_gemma4_experts(PartsReader& reader) {
  if (!reader.fields().flag_or("enable_moe_block", false)) return;
  FeedForwardPart part = reader.experts(
      {{"num_experts"}, {"top_k_experts", "num_experts_per_tok"}, {"moe_intermediate_size"}});
  part.dense_beside = true;
  reader.spread_experts(part, reader.sparse_from(0, 1));
}

void read_gemma4(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {2304, 30, 8, 4, 256, 9216, 262144, 131072});
  reader.set_form(LayerForm::kSandwich);
  reader.norm_heads();
  reader.read_windows(all_but_last, 6, 512);
  for (LayerPart& part : reader.layers()) {
    MixerPart& mixer = part.mixer;
    if (mixer.window > 0) continue;
    mixer.head_dim = mixer.value_dim = fields.size_or("global_head_dim", kMaxWidth, mixer.head_dim);
    mixer.kv_heads = fields.size_or("num_global_key_value_heads", kMaxHeads, mixer.kv_heads);
    mixer.keys_are_values = fields.flag_or("attention_k_eq_v", false);
  }
  reader.read_rotation();
  read_shared_caches(reader);
  read_gemma4_experts(reader);
  DecoderParts& parts = config->parts_of_decoder;
  parts.per_layer_columns = fields.count_or("hidden_size_per_layer_input", kMaxWidth, 0);
  parts.per_layer_vocab = fields.size_or("vocab_size_per_layer_input", kMaxVocab, config->vocab);
}

// A number for each layer.
void read_widths(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  if (!fields.is_list("intermediate_size")) return;
  const std::vector<std::int64_t> widths = fields.integers("intermediate_size");
  if (!reader.names_layers("intermediate_size", widths.size())) return;
  for (std::size_t i = 0; i < reader.layers().size(); ++i) {
    if (widths[i] < 1 || widths[i] > kMaxWidth) {
      return fields.problem("intermediate_size", "holds " + std::to_string(widths[i]) +
                                                     "; widths are from 1 to " +
                                                     std::to_string(kMaxWidth));
    }
    reader.layer(i).feed_forward.intermediate = widths[i];
  }
}

// Layers whose gates are cut at a quantile: a share for each, or one for all.
void read_gate_cuts(PartsReader& reader) {
  JsonFields& fields = reader.fields();
  constexpr std::string_view kKey = "activation_sparsity_pattern";
  if (!fields.has(kKey)) return;
  if (!fields.is_list(kKey)) {
    const double share = fields.number_or(kKey, 0);
    if (share < 0 || share >= 1) fields.problem(kKey, "must be from 0 to below 1");
    for (LayerPart& part : reader.layers()) part.feed_forward.cuts_gates = share > 0;
    return;
  }
  if (!reader.names_layers(kKey, fields.entries(kKey))) return;
  const std::vector<double> shares = fields.shares(kKey, fields.entries(kKey));
  for (std::size_t i = 0; i < reader.layers().size() && i < shares.size(); ++i)
    reader.layer(i).feed_forward.cuts_gates = shares[i] > 0;
}

// Gemma 3n: columns of its own for every layer, predicted copies of the stream, caches of earlier
// layers.
void read_gemma3n(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {2048, 35, 8, 2, 256, 16384, 262400, 32768});
  reader.set_form(LayerForm::kSandwich);
  reader.norm_heads();
  reader.read_rotation();
  reader.read_windows(all_but_last, 5, 512);
  read_widths(reader);
  read_gate_cuts(reader);
  read_shared_caches(reader);
  for (LayerPart& part : reader.layers()) part.mixer.holds_keys = true;
  DecoderParts& parts = config->parts_of_decoder;
  parts.per_layer_columns = fields.size_or("hidden_size_per_layer_input", kMaxWidth, 256);
  parts.per_layer_vocab = fields.size_or("vocab_size_per_layer_input", kMaxVocab, 262144);
  constexpr std::int64_t kMostCopies = 64;
  parts.predictions = fields.size_or("altup_num_inputs", kMostCopies, 4);
  parts.residual_rank = fields.size_or("laurel_rank", kMaxWidth, 64);
  const std::int64_t active = fields.count_or("altup_active_idx", kMostCopies, 0);
  if (active >= parts.predictions) {
    fields.problem("altup_active_idx",
                   "must be below altup_num_inputs, " + std::to_string(parts.predictions));
  }
}

// Llama 3.2 with images: the layers of cross_attention_layers read them, and nothing else.
void read_mllama(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config, {4096, 40, 32, 8, 0, 14336, 128256, 131072});
  reader.read_rotation();
  constexpr std::string_view kKey = "cross_attention_layers";
  if (!fields.is_list(kKey)) fields.problem(kKey, "must list the layers that read images");
  std::vector<bool> seen(reader.layers().size(), false);
  for (const std::int64_t layer : fields.integers(kKey)) {
    if (layer < 0 || layer >= config->layers) {
      fields.problem(kKey, "contradiction: names layer " + std::to_string(layer) +
                               ", but num_hidden_layers is " + std::to_string(config->layers) +
                               " (they are counted from 0)");
      return;
    }
    const auto index = static_cast<std::size_t>(layer);
    if (seen[index]) {
      fields.problem(kKey, "names layer " + std::to_string(layer) + " twice");
      return;
    }
    seen[index] = true;
    reader.layer(index).mixer.reads_images = true;
  }
  if (std::all_of(seen.begin(), seen.end(), [](bool one) { return one; }))
    fields.problem(kKey, "contradiction: names all layers, so that none reads the text");
  constexpr std::int64_t kImageRows = 8;  // of the table of words, for tokens of images
  config->parts_of_decoder.more_words = kImageRows;
  reader.note(
      "layers of cross_attention_layers read images alone: calls of text skip them, and they and "
      "the tower take memory");
}

// The attention of one block of a network that was searched for: heads, nothing, or one matrix.
void read_searched_attention(JsonFields& block, MixerPart* mixer) {
  if (block.flag_or("replace_with_linear", false)) {
    block.problem("replace_with_linear",
                  "an attention that is one matrix cannot be imported; false can");
  }
  if (block.flag_or("no_op", false)) {
    mixer->kind = MixerKind::kNone;
    return;
  }
  const std::int64_t group = block.size_or("n_heads_in_group", kMaxHeads, 1);
  mixer->kv_heads = std::max<std::int64_t>(1, mixer->heads / group);
  mixer->window = block.count_or("window_length", kMaxPositions, 0);
}

void read_searched_ffn(JsonFields& block, std::int64_t hidden, FeedForwardPart* part) {
  constexpr std::int64_t kMultiple = 256;  // widths are rounded up to it
  if (block.flag_or("replace_with_linear", false)) {
    block.problem("replace_with_linear",
                  "a feed-forward network that is one matrix cannot be imported; false can");
  }
  if (block.flag_or("no_op", false)) {
    part->kind = FeedForwardKind::kNone;
    return;
  }
  const double factor = block.number_or("ffn_mult", 0);
  if (!(factor > 0) || factor > 1000) {
    block.problem("ffn_mult", "must be above 0 and at most 1000");
    return;
  }
  const auto width = static_cast<std::int64_t>(2 * factor * static_cast<double>(hidden) / 3);
  part->intermediate = (width + kMultiple - 1) / kMultiple * kMultiple;
}

void read_nemotron_nas(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  std::vector<JsonFields> blocks = fields.items("block_configs");
  if (blocks.size() != reader.layers().size()) {
    fields.problem("block_configs", "contradiction: describes " + std::to_string(blocks.size()) +
                                        " layers, but num_hidden_layers is " +
                                        std::to_string(reader.layers().size()));
    return;
  }
  std::int64_t kv_heads = 1;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    LayerPart& part = reader.layer(i);
    JsonFields attention = blocks[i].inside("attention");
    JsonFields ffn = blocks[i].inside("ffn");
    read_searched_attention(attention, &part.mixer);
    read_searched_ffn(ffn, config->hidden, &part.feed_forward);
    fields.take_problems(attention);
    fields.take_problems(ffn);
    fields.take_problems(blocks[i]);
    if (part.mixer.kind != MixerKind::kNone) kv_heads = std::max(kv_heads, part.mixer.kv_heads);
  }
  config->kv_heads = kv_heads;
  reader.read_rotation();
}

// Molmo (modeling_molmo.py of its page, remembered): one size for gate and network.
void read_molmo(JsonFields& fields, ModelConfig* config) {
  PartsReader reader(fields, config);
  if (fields.count_or("moe_num_experts", kMaxVocab, 0) > 0)
    fields.problem("moe_num_experts", "only 0 can be imported");
  if (fields.text_or("layer_norm_type", "rms") != "rms")
    fields.problem("layer_norm_type", "only 'rms' can be imported");
  if (config->intermediate % 2 != 0)
    fields.problem("intermediate_size", "must be even: half of it are gates");
  config->vocab = fields.size_or("embedding_size", kMaxVocab, config->vocab);
  constexpr std::int64_t kImageRows = 128;  // of the table of words, for marks of images
  config->parts_of_decoder.more_words = kImageRows;
  for (LayerPart& layer : reader.layers()) {
    layer.feed_forward.intermediate = config->intermediate / 2;
    layer.mixer.qkv_bias = fields.flag_or("qkv_bias", false);
  }
  if (fields.flag_or("attention_layer_norm", false)) reader.norm_heads(HeadNorm::kWhole);
  if (fields.flag_or("norm_after", false)) reader.set_form(LayerForm::kPostNorm);
  reader.read_rotation();
}

// MiniCPM-V: the decoder beside its tower is that of its version.
void read_minicpmv(JsonFields& fields, ModelConfig* config) {
  constexpr std::string_view kKey = "version";
  static const std::map<std::string, std::string> kDecoders = {
      {"2.5", "llama_in_parts"}, {"2.6", "qwen2_in_parts"}, {"4.5", "qwen3_vl"}};
  const std::string version =
      fields.is_text(kKey) ? fields.text(kKey) : fmt::format("{:.1f}", fields.number_or(kKey, 2.6));
  const auto found = kDecoders.find(version);
  if (found == kDecoders.end()) {
    return fields.problem(kKey, "the decoder of MiniCPM-V " + version +
                                    " is not known; those of 2.5, 2.6 and 4.5 are");
  }
  type_of(load_architecture(file_of_architecture(found->second))).read(fields, config);
}

}  // namespace

std::vector<ModelType> dense_network_types() {
  return {
      {"phi3small", "Phi3Small", {}, read_phi3small, true},
      {"gemma4", "Gemma4", {}, read_gemma4, true},
      {"gemma3n", "Gemma3n", {}, read_gemma3n, true},
      {"mllama", "Mllama", {}, read_mllama, false},
      {"molmo", "Molmo", {}, read_molmo, false},
      {"minicpmv", "MiniCPMV", {}, read_minicpmv, false},
      {"nemotron-nas", "DeciLM", {}, read_nemotron_nas, false},
  };
}

}  // namespace foretell
