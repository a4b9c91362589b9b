// config.json of transformers that look at images, as the transformers library writes them.
#include <algorithm>
#include <cmath>

#include "model/base/text.hpp"
#include "workloads/import/hf/config/config_readers.hpp"

namespace foretell {
namespace {

void read_pixels(JsonFields& fields, ModelConfig* config) {
  config->family = Family::kVision;
  config->vision.image_size = fields.size_or("image_size", kMaxPixels, 224);
  config->vision.channels = fields.size_or("num_channels", kMaxWidth, 3);
}

void read_patch(JsonFields& fields, ModelConfig* config, std::int64_t otherwise = 0) {
  config->vision.patch = otherwise > 0 ? fields.size_or("patch_size", kMaxPixels, otherwise)
                                       : fields.size("patch_size", kMaxPixels);
  if (config->vision.image_size % config->vision.patch != 0) {
    fields.problem("patch_size", "does not divide images of " +
                                     std::to_string(config->vision.image_size) + " pixels evenly");
  }
}

void read_tower(JsonFields& fields, TowerConfig* tower) {
  tower->layers = fields.size("num_hidden_layers", kMaxLayers);
  tower->hidden = fields.size("hidden_size", kMaxWidth);
  tower->heads = fields.size("num_attention_heads", kMaxHeads);
  tower->intermediate = fields.size("intermediate_size", kMaxWidth);
  tower->activation = read_activation(fields, "hidden_act");
  if (tower->hidden % tower->heads != 0)
    fields.problem("num_attention_heads", "does not divide the hidden size evenly");
}

// What the files of SigLIP and CLIP leave out is that of the smallest one.
TowerConfig tower_with_defaults(JsonFields& fields, const TowerConfig& otherwise) {
  TowerConfig tower;
  tower.layers = fields.size_or("num_hidden_layers", kMaxLayers, otherwise.layers);
  tower.hidden = fields.size_or("hidden_size", kMaxWidth, otherwise.hidden);
  tower.heads = fields.size_or("num_attention_heads", kMaxHeads, otherwise.heads);
  tower.intermediate = fields.size_or("intermediate_size", kMaxWidth, otherwise.intermediate);
  tower.activation =
      fields.has("hidden_act") ? read_activation(fields, "hidden_act") : otherwise.activation;
  if (tower.hidden % tower.heads != 0)
    fields.problem("num_attention_heads", "does not divide the hidden size evenly");
  return tower;
}

// The tower of the images is the network's own.
void use_tower(const TowerConfig& tower, ModelConfig* config) {
  config->layers = tower.layers;
  config->hidden = tower.hidden;
  config->heads = tower.heads;
  config->intermediate = tower.intermediate;
  config->activation = tower.activation;
}

void read_vit(JsonFields& fields, ModelConfig* config) {
  read_pixels(fields, config);
  read_patch(fields, config);
  TowerConfig tower;
  read_tower(fields, &tower);
  use_tower(tower, config);
  config->qkv_bias = fields.flag_or("qkv_bias", true);
  read_labels(fields, config);
}

// MLP-Mixer (Tolstikhin et al. 2021), as timm sizes it; no library writes a config.json of it.
void read_mixer(JsonFields& fields, ModelConfig* config) {
  read_pixels(fields, config);
  read_patch(fields, config);
  config->layers = fields.size("num_hidden_layers", kMaxLayers);
  config->hidden = fields.size("hidden_size", kMaxWidth);
  config->intermediate = fields.size("intermediate_size", kMaxWidth);
  config->vision.token_intermediate = fields.size("token_intermediate_size", kMaxWidth);
  config->activation = read_activation(fields, "hidden_act");
  config->heads = 1;
  config->labels = fields.size_or("num_labels", kMaxWidth, 1000);
}

// The feed-forward part is given as a multiple of the width.
void read_dinov2(JsonFields& fields, ModelConfig* config) {
  constexpr std::int64_t kMaxRatio = 64;
  read_pixels(fields, config);
  read_patch(fields, config);
  config->layers = fields.size("num_hidden_layers", kMaxLayers);
  config->hidden = fields.size("hidden_size", kMaxWidth);
  config->heads = fields.size("num_attention_heads", kMaxHeads);
  config->intermediate = config->hidden * fields.size_or("mlp_ratio", kMaxRatio, 4);
  config->activation = read_activation(fields, "hidden_act");
  config->qkv_bias = fields.flag_or("qkv_bias", true);
  if (config->hidden % config->heads != 0)
    fields.problem("num_attention_heads", "does not divide the hidden size evenly");
  if (!fields.flag_or("use_swiglu_ffn", false)) return;
  constexpr std::int64_t kMultiple = 8;  // widths of gated networks, which have three matrices
  config->vision.tower.gated = true;
  config->activation = Activation::kSilu;
  config->intermediate = (2 * config->intermediate / 3 + kMultiple - 1) / kMultiple * kMultiple;
}

void read_dinov2_with_registers(JsonFields& fields, ModelConfig* config) {
  read_dinov2(fields, config);
  config->vision.tower.registers = fields.count_or("num_register_tokens", kMaxPositions, 4);
}

void read_dinov3(JsonFields& fields, ModelConfig* config) {
  read_pixels(fields, config);
  read_patch(fields, config, 16);
  use_tower(tower_with_defaults(fields, {12, 384, 6, 1536, Activation::kGelu}), config);
  TowerConfig& tower = config->vision.tower;
  tower.gated = fields.flag_or("use_gated_mlp", false);
  tower.query_bias = fields.flag_or("query_bias", true);
  tower.key_bias = fields.flag_or("key_bias", false);
  tower.value_bias = fields.flag_or("value_bias", true);
  tower.ffn_bias = fields.flag_or("mlp_bias", true);
  tower.registers = fields.count_or("num_register_tokens", kMaxPositions, 0);
  if (!fields.flag_or("proj_bias", true)) fields.problem("proj_bias", "only true can be imported");
}

// Attention inside windows, of widths that double from stage to stage. The second version has the
// same fields and names the windows of its training, which change no shape.
void read_swin(JsonFields& fields, ModelConfig* config) {
  constexpr std::int64_t kMostBlocks = 1024;
  constexpr double kWidestRatio = 64;
  read_pixels(fields, config);
  read_patch(fields, config);
  config->layers = config->heads = config->hidden = 1;  // no blocks that are cut or shared
  config->embedding = fields.size("embed_dim", kMaxWidth);
  VisionConfig& vision = config->vision;
  vision.depths = fields.sizes("depths", kMostBlocks);
  vision.stage_heads = fields.sizes("num_heads", kMaxHeads);
  vision.window = fields.size("window_size", kMaxPixels);
  const double ratio = fields.number_or("mlp_ratio", 4);
  if (ratio < 1 || ratio > kWidestRatio || ratio != std::floor(ratio))
    fields.problem("mlp_ratio", "must be a whole number from 1 to 64");
  vision.expansion = static_cast<std::int64_t>(std::clamp(ratio, 1.0, kWidestRatio));
  config->activation = read_activation(fields, "hidden_act");
  config->qkv_bias = fields.flag_or("qkv_bias", true);
  read_labels(fields, config);
  fields.integers("pretrained_window_sizes");
  if (fields.flag_or("use_absolute_embeddings", false))
    fields.problem("use_absolute_embeddings", "only false can be imported");
  if (vision.depths.size() != vision.stage_heads.size() || vision.depths.size() > 8)
    return fields.problem("num_heads", "has another number of stages than depths, or more than 8");
  for (std::size_t i = 0; i < vision.stage_heads.size(); ++i) {
    if ((config->embedding << i) % vision.stage_heads[i] != 0)
      fields.problem("num_heads", "do not divide the widths of the stages evenly");
  }
}

void read_siglip_tower(JsonFields& fields, ModelConfig* config) {
  read_pixels(fields, config);
  read_patch(fields, config);
  TowerConfig tower;
  read_tower(fields, &tower);
  use_tower(tower, config);
}

TowerConfig siglip_tower(JsonFields& fields) {
  return tower_with_defaults(fields, {12, 768, 12, 3072, Activation::kGeluTanh});
}

// SigLIP 2 takes images of any shape: as many patches as its table has rows, here those of a
// square.
void read_siglip_pixels(JsonFields& fields, ModelConfig* config) {
  read_pixels(fields, config);
  config->vision.patch = fields.size_or("patch_size", kMaxPixels, 16);
  if (fields.has("num_patches")) {
    const std::int64_t patches = fields.size("num_patches", kMaxPositions);
    const std::int64_t along = std::llround(std::sqrt(static_cast<double>(patches)));
    if (along * along != patches) {
      fields.problem("num_patches", "is " + std::to_string(patches) +
                                        "; it must be a square number: a row for each patch");
    }
    config->vision.image_size = along * config->vision.patch;
  }
  if (config->vision.patch > config->vision.image_size)
    fields.problem("patch_size", "is more than image_size");
}

void read_siglip2_tower(JsonFields& fields, ModelConfig* config) {
  read_siglip_pixels(fields, config);
  if (!fields.has("num_patches")) config->vision.image_size = 16 * config->vision.patch;
  use_tower(siglip_tower(fields), config);
}

// Pixels that make no whole patch at the right and the lower edge are not read.
void read_siglip(JsonFields& fields, ModelConfig* config) {
  JsonFields vision = fields.inside("vision_config");
  if (starts_with(fields.text_or("model_type", ""), "siglip2")) {
    read_siglip2_tower(vision, config);
  } else {
    read_siglip_pixels(vision, config);
    use_tower(siglip_tower(vision), config);
  }
  JsonFields inner = fields.inside("text_config");
  TextConfig& text = config->text;
  text.tower = siglip_tower(inner);
  text.vocab = inner.size_or("vocab_size", kMaxVocab, 32000);
  text.positions = inner.size_or("max_position_embeddings", kMaxPositions, 64);
  text.projection = inner.size_or("projection_size", kMaxWidth, text.tower.hidden);
  text.causal = false;
  text.texts = fields.size_or("texts", kMaxPositions, 1);
  text.length = fields.size_or("text_length", kMaxPositions, text.positions);
  if (text.length > text.positions)
    fields.problem("text_length", "is more than max_position_embeddings");
  if (text.projection != config->hidden) {
    inner.problem("projection_size",
                  "must be the width of the images' tower, " + std::to_string(config->hidden));
  }
  fields.take_problems(vision);
  fields.take_problems(inner);
}

void read_text(JsonFields& fields, TextConfig* text) {
  read_tower(fields, &text->tower);
  text->vocab = fields.size("vocab_size", kMaxVocab);
  text->positions = fields.size("max_position_embeddings", kMaxPositions);
}

void read_clip(JsonFields& fields, ModelConfig* config) {
  JsonFields vision = fields.inside("vision_config");
  read_pixels(vision, config);
  read_patch(vision, config, 32);
  const TowerConfig images{12, 768, 12, 3072, Activation::kSilu};
  use_tower(tower_with_defaults(vision, images), config);
  JsonFields text = fields.inside("text_config");
  config->text.tower = tower_with_defaults(text, {12, 512, 8, 2048, Activation::kSilu});
  config->text.vocab = text.size_or("vocab_size", kMaxVocab, 49408);
  config->text.positions = text.size_or("max_position_embeddings", kMaxPositions, 77);
  config->text.projection = fields.size_or("projection_dim", kMaxWidth, 512);
  config->text.texts = fields.size_or("texts", kMaxPositions, 1);
  config->text.length = fields.size_or("text_length", kMaxPositions, config->text.positions);
  if (config->text.length > config->text.positions)
    fields.problem("text_length", "is more than max_position_embeddings");
  fields.take_problems(vision);
  fields.take_problems(text);
}

// The text tower alone, as an image generator has it.
void read_clip_text(JsonFields& fields, ModelConfig* config) {
  config->family = Family::kVision;
  read_text(fields, &config->text);
  use_tower(config->text.tower, config);
  const bool projects = ends_with(config->architecture, "WithProjection");
  config->text.projection = projects ? fields.size("projection_dim", kMaxWidth) : 0;
  config->text.texts = fields.size_or("texts", kMaxPositions, 1);
  config->text.length = config->text.positions;
}

void read_perceiver(JsonFields& fields, ModelConfig* config) {
  read_pixels(fields, config);
  config->labels = fields.size_or("num_labels", kMaxWidth, 1000);
  PerceiverConfig& perceiver = config->perceiver;
  perceiver.latents = fields.size("num_latents", kMaxPositions);
  perceiver.blocks = fields.size("num_blocks", kMaxLayers);
  perceiver.self_attends = fields.size("num_self_attends_per_block", kMaxLayers);
  perceiver.cross_heads = fields.size("num_cross_attention_heads", kMaxHeads);
  config->layers = perceiver.blocks * perceiver.self_attends;
  if (config->layers > kMaxLayers)
    fields.problem("num_blocks", "makes more than " + std::to_string(kMaxLayers) + " layers");
  config->hidden = fields.size("d_latents", kMaxWidth);
  config->heads = fields.size("num_self_attention_heads", kMaxHeads);
  for (const char* key : {"self_attention_widening_factor", "cross_attention_widening_factor"}) {
    if (fields.size_or(key, kMaxWidth, 1) != 1) fields.problem(key, "only 1 can be imported");
  }
  for (const char* key : {"qk_channels", "v_channels"}) {
    if (fields.has(key)) fields.problem(key, "only null can be imported");
  }
  config->intermediate = config->hidden;
  config->activation = Activation::kGelu;
  if (config->architecture.empty())
    fields.problem("architectures", "is missing; it says how images are prepared");
}

}  // namespace

std::vector<ModelType> vision_transformer_model_types() {
  const std::vector<HeadName> plain{{"Model", Head::kNone}};
  const std::vector<HeadName> texts{{"Model", Head::kNone}, {"ModelWithProjection", Head::kNone}};
  const std::vector<HeadName> classifier{{"ForImageClassification", Head::kSequence},
                                         {"Model", Head::kPooler}};
  return {
      {"vit", "ViT", classifier, read_vit, false},
      {"mlp_mixer", "MLPMixer", {{"ForImageClassification", Head::kNone}}, read_mixer, false},
      {"dinov2", "Dinov2", plain, read_dinov2, false},
      {"dinov2_with_registers", "Dinov2WithRegisters", plain, read_dinov2_with_registers, false},
      {"dinov3_vit", "DINOv3ViT", plain, read_dinov3, false},
      {"swin", "Swin", classifier, read_swin, false},
      {"swinv2", "Swinv2", classifier, read_swin, false},
      {"siglip", "Siglip", plain, read_siglip, false},
      {"siglip2", "Siglip2", plain, read_siglip, false},
      {"siglip2_vision_model", "Siglip2Vision", plain, read_siglip2_tower, false},
      {"siglip_vision_model", "SiglipVision", plain, read_siglip_tower, false},
      {"clip", "CLIP", plain, read_clip, false},
      {"clip_text_model", "CLIPText", texts, read_clip_text, false},
      {"perceiver",
       "Perceiver",
       {{"ForImageClassificationLearned", Head::kNone},
        {"ForImageClassificationFourier", Head::kNone},
        {"ForImageClassificationConvProcessing", Head::kNone},
        {"ForMultimodalAutoencoding", Head::kNone}},
       read_perceiver,
       false}};
}

}  // namespace foretell
