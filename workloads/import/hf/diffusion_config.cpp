// config.json of the networks that image generators are made of, as the diffusers library writes
// them; and files of this project's own, for pipelines of several networks and for ONNX files.
#include <filesystem>

#include "workloads/import/hf/config_readers.hpp"

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
  return {{"unet_2d_condition", "UNet2DCondition", plain, read_denoising_unet, false},
          {"autoencoder_kl", "AutoencoderKL", {{"", Head::kNone}}, read_decoder, false},
          {"onnx", "OnnxFile", {{"", Head::kNone}}, read_onnx, false},
          {"pipeline", "DiffusionPipeline", {{"", Head::kNone}}, read_pipeline, false}};
}

}  // namespace foretell
