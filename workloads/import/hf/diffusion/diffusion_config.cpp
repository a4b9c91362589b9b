// config.json of the networks that image generators are made of, as the diffusers library writes
// them; and files of this project's own, for pipelines of several networks and for ONNX files.
#include <filesystem>

#include "workloads/import/hf/config/config_readers.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kPixelsPerLatent = 8;  // along a side; the decoder doubles it three times
constexpr std::int64_t kMaxCalls = 100'000;
constexpr std::int64_t kMaxRepeats = 16;  // of what is inside a level, which multiply

void read_latents(JsonFields& fields, ModelConfig* config) {
  config->family = Family::kVision;
  config->layers = config->heads = config->hidden = 1;
  DiffusionConfig& diffusion = config->diffusion;
  diffusion.scale = kPixelsPerLatent;
  config->vision.image_size = kPixelsPerLatent * fields.size("sample_size", kMaxPixels);
  diffusion.in_channels = fields.size("in_channels", kMaxWidth);
  diffusion.out_channels = fields.size("out_channels", kMaxWidth);
}

void read_levels(JsonFields& fields, ModelConfig* config) {
  config->vision.widths = fields.sizes("block_out_channels", kMaxWidth);
  config->diffusion.layers_per_block = fields.size("layers_per_block", kMaxRepeats);
  config->diffusion.groups = fields.size_or("norm_num_groups", kMaxWidth, 32);
  for (const std::int64_t width : config->vision.widths) {
    if (width % config->diffusion.groups == 0) continue;
    fields.problem("block_out_channels", std::to_string(width) + " channels make no " +
                                             std::to_string(config->diffusion.groups) + " groups");
  }
}

// A number for all sizes, or one for each.
std::vector<std::int64_t> per_level(JsonFields& fields, const char* key, std::size_t levels,
                                    std::int64_t most) {
  if (!fields.has(key)) return std::vector<std::int64_t>(levels, 1);
  if (fields.entries(key) == 0) return std::vector<std::int64_t>(levels, fields.size(key, most));
  std::vector<std::int64_t> values = fields.sizes(key, most);
  if (values.size() != levels)
    fields.problem(key, "has another number of entries than block_out_channels");
  values.resize(levels, 1);
  return values;
}

void read_denoising_unet(JsonFields& fields, ModelConfig* config) {
  read_latents(fields, config);
  read_levels(fields, config);
  DiffusionConfig& diffusion = config->diffusion;
  const std::size_t levels = config->vision.widths.size();
  diffusion.depths = per_level(fields, "transformer_layers_per_block", levels, kMaxRepeats);
  // The library calls it so, but it is the number of heads.
  diffusion.heads = per_level(fields, "attention_head_dim", levels, kMaxHeads);
  const std::vector<std::string> types = fields.texts("down_block_types");
  if (types.size() != levels)
    fields.problem("down_block_types", "must name one block per entry of block_out_channels");
  for (std::size_t i = 0; i < types.size() && i < levels; ++i) {
    const bool attends = types[i] == "CrossAttnDownBlock2D";
    if (!attends && types[i] != "DownBlock2D") {
      fields.problem("down_block_types", "'" + types[i] +
                                             "' cannot be imported; CrossAttnDownBlock2D and "
                                             "DownBlock2D can");
    }
    config->vision.depths.push_back(attends ? diffusion.depths[i] : 0);
    if (attends && config->vision.widths[i] % diffusion.heads[i] != 0)
      fields.problem("attention_head_dim", "does not divide the channels evenly");
  }
  diffusion.text_width = fields.size("cross_attention_dim", kMaxWidth);
  diffusion.text_length = fields.size_or("text_length", kMaxPositions, 77);
  diffusion.linear_projection = fields.flag_or("use_linear_projection", false);
  diffusion.added_width = fields.count_or("projection_class_embeddings_input_dim", kMaxWidth, 0);
}

void read_decoder(JsonFields& fields, ModelConfig* config) {
  config->family = Family::kVision;
  config->layers = config->heads = config->hidden = 1;
  read_levels(fields, config);
  DiffusionConfig& diffusion = config->diffusion;
  diffusion.scale = std::int64_t{1} << (config->vision.widths.size() - 1);
  config->vision.image_size = fields.size("sample_size", kMaxPixels);
  diffusion.in_channels = fields.size("latent_channels", kMaxWidth);
  diffusion.out_channels = fields.size("out_channels", kMaxWidth);
}

// Of both libraries' classes: sides of a tile and of a step, latent frames of a tile and of a step.
constexpr TileConfig kWanTiles{256, 192, 1, 1, true};
constexpr TileConfig kHunyuanTiles{256, 192, 5, 3, false};

void read_video_decoder(JsonFields& fields, const TileConfig& tiles, ModelConfig* config) {
  config->family = Family::kVision;
  config->layers = config->heads = config->hidden = 1;
  DiffusionConfig& diffusion = config->diffusion;
  diffusion.tiles = tiles;
  diffusion.frame_scale = 1;
  for (const std::int64_t doubles : diffusion.depths) diffusion.frame_scale *= doubles > 0 ? 2 : 1;
  diffusion.scale = std::int64_t{1} << (config->vision.widths.size() - 1);
  diffusion.out_channels = fields.size_or("out_channels", kMaxWidth, 3);
  config->vision.image_size = config->vision.image_width = tiles.pixels;
  config->vision.frames = 1 + (tiles.latent_frames - 1) * diffusion.frame_scale;
  if (tiles.pixel_stride % diffusion.scale != 0)
    fields.problem("block_out_channels", "makes tiles of 256 pixels no whole latent ones");
}

void read_wan_decoder(JsonFields& fields, ModelConfig* config) {
  const std::int64_t base = fields.size("base_dim", kMaxWidth);
  config->vision.widths = fields.sizes("dim_mult", kMaxRepeats);
  for (std::int64_t& width : config->vision.widths) width *= base;
  config->diffusion.layers_per_block = fields.size("num_res_blocks", kMaxRepeats);
  config->diffusion.in_channels = fields.size("z_dim", kMaxWidth);
  // Of each level but the lowest, whether the step up from it doubles the frames.
  config->diffusion.depths.assign(config->vision.widths.size(), 0);
  const std::vector<bool> doubles = fields.flags("temperal_downsample");
  if (doubles.size() + 1 != config->vision.widths.size()) {
    fields.problem("temperal_downsample", "must have one entry less than dim_mult");
  } else {
    for (std::size_t i = 0; i < doubles.size(); ++i)
      config->diffusion.depths[i + 1] = doubles[i] ? 1 : 0;
  }
  read_video_decoder(fields, kWanTiles, config);
}

void read_hunyuan_decoder(JsonFields& fields, ModelConfig* config) {
  read_levels(fields, config);
  config->diffusion.in_channels = fields.size("latent_channels", kMaxWidth);
  const std::int64_t levels = static_cast<std::int64_t>(config->vision.widths.size());
  std::int64_t times = fields.size_or("temporal_compression_ratio", kMaxRepeats, 4);
  const std::int64_t sides = fields.size_or("spatial_compression_ratio", kMaxRepeats, 8);
  if (levels == 0 || sides != std::int64_t{1} << (levels - 1)) {
    fields.problem("spatial_compression_ratio", "is not the doublings of block_out_channels");
  }
  config->diffusion.depths.assign(config->vision.widths.size(), 0);
  for (std::size_t i = 1; i < config->vision.widths.size() && times > 1; ++i, times /= 2)
    config->diffusion.depths[i] = 1;
  read_video_decoder(fields, kHunyuanTiles, config);
}

void read_pipeline(JsonFields& fields, ModelConfig* config) {
  config->family = Family::kPipeline;
  config->layers = config->heads = config->hidden = 1;
  config->vision.image_size = fields.size("image_size", kMaxPixels);
  config->vision.image_width = fields.size_or("image_width", kMaxPixels, config->vision.image_size);
  config->vision.frames = fields.size_or("frames", kMaxFrames, 1);
  config->left_out = fields.text_or("left_out", "");
  JsonFields parts = fields.inside("parts");
  for (const std::string& name : parts.names()) {
    JsonFields part = parts.inside(name);
    PipelinePart read;
    read.name = name;
    read.workload = part.text("workload");
    read.calls = part.size_or("calls", kMaxCalls, 1);
    read.seq_len = part.count_or("seq_len", kMaxSequence, 0);
    read.guided = part.flag_or("guided", false);
    read.one_by_one = part.flag_or("one_by_one", false);
    config->parts.push_back(read);
    parts.take_problems(part);
  }
  if (config->parts.empty() && fields.has("parts")) fields.problem("parts", "has none");
  fields.take_problems(parts);
}

// What `foretell import` writes: the file, beside this one, and what it leaves open.
void read_onnx(JsonFields& fields, ModelConfig* config) {
  config->family = Family::kOnnx;
  config->layers = config->heads = config->hidden = 1;
  const std::filesystem::path file = fields.text("file");
  config->onnx_file = (std::filesystem::path(config->file).parent_path() / file).string();
  if (!fields.has("dimensions")) return;
  JsonFields dimensions = fields.inside("dimensions");
  for (const std::string& name : dimensions.names())
    config->dimensions[name] = dimensions.size(name, kMaxPositions);
  fields.take_problems(dimensions);
}

}  // namespace

std::vector<ModelType> diffusion_model_types() {
  const std::vector<HeadName> plain = {{"Model", Head::kNone}};
  const std::vector<HeadName> whole = {{"", Head::kNone}};  // the class has no suffix
  return {{"unet_2d_condition", "UNet2DCondition", plain, read_denoising_unet, false},
          {"autoencoder_kl", "AutoencoderKL", whole, read_decoder, false},
          {"autoencoder_kl_hunyuan_video", "AutoencoderKLHunyuanVideo", whole, read_hunyuan_decoder,
           false},
          {"autoencoder_kl_wan", "AutoencoderKLWan", whole, read_wan_decoder, false},
          {"onnx", "OnnxFile", whole, read_onnx, false},
          {"pipeline", "DiffusionPipeline", whole, read_pipeline, false}};
}

}  // namespace foretell
