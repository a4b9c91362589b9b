// config.json of transformers that remove noise, as the diffusers library writes them. What the
// pipelines around them fix stands beside in fields of the project's own: image_size, image_width,
// frames, text_length; without these, as their publishers run them.
#include <cmath>

#include "workloads/import/hf/config/config_readers.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kLatentStep = 8;  // along a side
constexpr std::int64_t kLatentFrames = 4;
constexpr std::int64_t kDeepLatentStep = 32;  // of the deep autoencoder of SANA
constexpr std::int64_t kPacked = 4;           // latent pixels that a pipeline packs in a token

// As their publishers run them.
struct Usual {
  std::int64_t height;
  std::int64_t width;
  std::int64_t frames;
  std::int64_t text_length;
};

void read_size(JsonFields& fields, ModelConfig* config, const Usual& usual) {
  VisionConfig& vision = config->vision;
  const bool stated = fields.has("image_size");
  vision.image_size = fields.size_or("image_size", kMaxPixels, usual.height);
  vision.image_width =
      fields.size_or("image_width", kMaxPixels, stated ? vision.image_size : usual.width);
  vision.frames = fields.size_or("frames", kMaxFrames, usual.frames);
  config->diffusion.text_length = fields.size_or("text_length", kMaxPositions, usual.text_length);
}

void read_shape(JsonFields& fields, ModelConfig* config) {
  config->family = Family::kVision;
  config->heads = fields.size("num_attention_heads", kMaxHeads);
  config->hidden = config->heads * fields.size("attention_head_dim", kMaxWidth);
  config->layers = fields.size("num_layers", kMaxLayers);
  config->intermediate = 4 * config->hidden;
  DiffusionConfig& diffusion = config->diffusion;
  diffusion.scale = kLatentStep;
  diffusion.in_channels = fields.size("in_channels", kMaxWidth);
  diffusion.out_channels = fields.size_or("out_channels", kMaxWidth, diffusion.in_channels);
}

void read_image_patch(JsonFields& fields, ModelConfig* config) {
  config->vision.patch = fields.size("patch_size", kMaxPixels);
}

std::int64_t scaled(JsonFields& fields, const char* ratio, double usual, std::int64_t width) {
  const double inner = fields.number_or(ratio, usual) * static_cast<double>(width);
  if (inner >= 1 && inner <= static_cast<double>(kMaxWidth))
    return static_cast<std::int64_t>(inner);
  fields.problem(ratio, "makes a feed-forward part of no possible width");
  return 1;
}

// Pixels of the image by its latent side.
Usual image_of(JsonFields& fields, std::int64_t scale, std::int64_t text_length) {
  const std::int64_t side = scale * fields.size("sample_size", kMaxPixels);
  return {side, side, 1, text_length};
}

void read_pixart(JsonFields& fields, ModelConfig* config) {
  read_shape(fields, config);
  read_image_patch(fields, config);
  config->diffusion.text_width = fields.size("caption_channels", kMaxWidth);
  config->denoiser.sines = true;
  read_size(fields, config, image_of(fields, kLatentStep, 120));
}

void read_hunyuan_dit(JsonFields& fields, ModelConfig* config) {
  read_shape(fields, config);
  read_image_patch(fields, config);
  DenoiserConfig& denoiser = config->denoiser;
  config->intermediate = scaled(fields, "mlp_ratio", 4, config->hidden);
  if (fields.flag_or("learn_sigma", true)) config->diffusion.out_channels *= 2;
  config->diffusion.text_width = fields.size("cross_attention_dim", kMaxWidth);
  denoiser.second_text_width = fields.size("cross_attention_dim_t5", kMaxWidth);
  denoiser.second_text_length = fields.size_or("text_len_t5", kMaxPositions, 256);
  denoiser.pooled_width = fields.size_or("pooled_projection_dim", kMaxWidth, 1024);
  denoiser.shifts_per_block = denoiser.skips = denoiser.rotary = true;
  denoiser.rotary_cross = denoiser.wide_norms = true;
  denoiser.query_norm = QueryNorm::kLayerPerHead;
  read_size(fields, config,
            image_of(fields, kLatentStep, fields.size_or("text_len", kMaxPositions, 77)));
}

void read_sana(JsonFields& fields, ModelConfig* config) {
  read_shape(fields, config);
  read_image_patch(fields, config);
  DenoiserConfig& denoiser = config->denoiser;
  config->diffusion.scale = kDeepLatentStep;
  config->intermediate = scaled(fields, "mlp_ratio", 2.5, config->hidden);
  config->diffusion.text_width = fields.size("caption_channels", kMaxWidth);
  denoiser.cross_heads = fields.size("num_cross_attention_heads", kMaxHeads);
  denoiser.linear_attention = denoiser.convolving = true;
  denoiser.qkv_bias = fields.flag_or("attention_bias", false);
  if (fields.has("qk_norm")) denoiser.query_norm = QueryNorm::kRmsAcrossHeads;
  denoiser.guided_inside = fields.flag_or("guidance_embeds", false);
  if (config->hidden % denoiser.cross_heads != 0)
    fields.problem("num_cross_attention_heads", "does not divide the width evenly");
  read_size(fields, config, image_of(fields, kDeepLatentStep, 300));
}

// Frames, height and width of a patch.
void read_video_patch(JsonFields& fields, ModelConfig* config) {
  const std::vector<std::int64_t> sides = fields.sizes("patch_size", kMaxPixels);
  if (sides.size() != 3 || sides[1] != sides[2]) {
    fields.problem("patch_size", "must hold frames and two equal sides, as [1, 2, 2]");
    config->vision.patch = 1;
    return;
  }
  config->diffusion.patch_frames = sides[0];
  config->vision.patch = sides[1];
}

void read_wan(JsonFields& fields, ModelConfig* config) {
  read_shape(fields, config);
  read_video_patch(fields, config);
  DenoiserConfig& denoiser = config->denoiser;
  config->diffusion.frame_scale = kLatentFrames;
  config->intermediate = fields.size("ffn_dim", kMaxWidth);
  config->diffusion.text_width = fields.size("text_dim", kMaxWidth);
  denoiser.cross_norm = fields.flag_or("cross_attn_norm", true);
  denoiser.query_norm = QueryNorm::kRmsAcrossHeads;
  denoiser.rotary = denoiser.packed = true;
  denoiser.wide_norms = denoiser.wide_shifts = true;
  denoiser.divides_text = true;  // xFuserWanAttnProcessor, XDIT in hw/sources.yaml
  read_size(fields, config, {480, 832, 81, 512});
}

void read_joint(JsonFields& fields, ModelConfig* config) {
  read_shape(fields, config);
  DenoiserConfig& denoiser = config->denoiser;
  denoiser.joint_blocks = config->layers;
  denoiser.single_blocks = fields.count_or("num_single_layers", kMaxLayers, 0);
  config->layers += denoiser.single_blocks;
}

void read_sd3(JsonFields& fields, ModelConfig* config) {
  read_joint(fields, config);
  read_image_patch(fields, config);
  DenoiserConfig& denoiser = config->denoiser;
  config->diffusion.text_width = fields.size("joint_attention_dim", kMaxWidth);
  denoiser.pooled_width = fields.size("pooled_projection_dim", kMaxWidth);
  denoiser.twice = fields.integers("dual_attention_layers");
  denoiser.last_drops_text = denoiser.sines = true;
  if (fields.has("qk_norm")) denoiser.query_norm = QueryNorm::kRmsPerHead;
  read_size(fields, config, image_of(fields, kLatentStep, 333));
}

// Tokens of 2 x 2 latent pixels, which are packed before the network sees them.
void read_packed(JsonFields& fields, ModelConfig* config) {
  read_joint(fields, config);
  config->diffusion.in_channels /= kPacked;
  config->diffusion.out_channels = config->diffusion.in_channels;
  config->vision.patch = 2;
  config->diffusion.text_width = fields.size("joint_attention_dim", kMaxWidth);
  config->denoiser.query_norm = QueryNorm::kRmsPerHead;
  config->denoiser.rotary = config->denoiser.packed = true;
  config->denoiser.guided_inside = fields.flag_or("guidance_embeds", false);
  if (config->diffusion.in_channels == 0)
    fields.problem("in_channels", "must be a multiple of 4: tokens are 2 x 2 latent pixels");
}

void read_flux(JsonFields& fields, ModelConfig* config) {
  read_packed(fields, config);
  config->denoiser.pooled_width = fields.size("pooled_projection_dim", kMaxWidth);
  read_size(fields, config, {1024, 1024, 1, 512});
}

void read_qwen_image(JsonFields& fields, ModelConfig* config) {
  read_packed(fields, config);
  config->denoiser.text_norm = true;
  read_size(fields, config, {1328, 1328, 1, 512});
}

void read_video_sides(JsonFields& fields, ModelConfig* config) {
  read_image_patch(fields, config);
  config->diffusion.patch_frames = fields.size_or("patch_size_t", kMaxPixels, 1);
  config->diffusion.frame_scale = kLatentFrames;
  config->diffusion.text_width = fields.size("text_embed_dim", kMaxWidth);
  config->denoiser.rotary = config->denoiser.packed = true;
}

void read_cogvideox(JsonFields& fields, ModelConfig* config) {
  read_joint(fields, config);
  read_video_sides(fields, config);
  DenoiserConfig& denoiser = config->denoiser;
  denoiser.one_weight_set = true;
  denoiser.query_norm = QueryNorm::kLayerPerHead;
  denoiser.condition_width = fields.size_or("time_embed_dim", kMaxWidth, 512);
  read_size(fields, config,
            {kLatentStep * fields.size_or("sample_height", kMaxPixels, 60),
             kLatentStep * fields.size_or("sample_width", kMaxPixels, 90),
             fields.size_or("sample_frames", kMaxFrames, 49),
             fields.size_or("max_text_seq_length", kMaxPositions, 226)});
}

void read_hunyuan_video(JsonFields& fields, ModelConfig* config) {
  read_joint(fields, config);
  read_video_sides(fields, config);
  DenoiserConfig& denoiser = config->denoiser;
  config->intermediate = scaled(fields, "mlp_ratio", 4, config->hidden);
  denoiser.query_norm = QueryNorm::kRmsPerHead;
  denoiser.pooled_width = fields.size("pooled_projection_dim", kMaxWidth);
  denoiser.refiner_blocks = fields.count_or("num_refiner_layers", kMaxLayers, 2);
  denoiser.guided_inside = fields.flag_or("guidance_embeds", true);
  read_size(fields, config, {720, 1280, 129, 256});
}

}  // namespace

std::vector<ModelType> denoiser_model_types() {
  const std::vector<HeadName> plain = {{"Model", Head::kNone}};
  return {{"pixart_transformer_2d", "PixArtTransformer2D", plain, read_pixart, false},
          {"hunyuan_dit_2d", "HunyuanDiT2D", plain, read_hunyuan_dit, false},
          {"sana_transformer_2d", "SanaTransformer2D", plain, read_sana, false},
          {"wan_transformer_3d", "WanTransformer3D", plain, read_wan, false},
          {"sd3_transformer_2d", "SD3Transformer2D", plain, read_sd3, false},
          {"flux_transformer_2d", "FluxTransformer2D", plain, read_flux, false},
          {"qwenimage_transformer_2d", "QwenImageTransformer2D", plain, read_qwen_image, false},
          {"cogvideox_transformer_3d", "CogVideoXTransformer3D", plain, read_cogvideox, false},
          {"hunyuan_video_transformer_3d", "HunyuanVideoTransformer3D", plain, read_hunyuan_video,
           false}};
}

}  // namespace foretell
