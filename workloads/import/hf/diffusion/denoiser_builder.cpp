#include "workloads/import/hf/diffusion/denoiser_builder.hpp"

#include <fmt/format.h>

#include "model/base/errors.hpp"
#include "workloads/import/hf/diffusion/diffusion_graph.hpp"
#include "workloads/import/hf/vision/tower.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kWaves = 256;

// Latent frames of a video in tokens. The first frame has a latent one of its own.
std::int64_t frames_in_tokens(const ModelConfig& config, const Binding& binding) {
  const DiffusionConfig& diffusion = config.diffusion;
  const std::int64_t frames = binding.frames > 0 ? binding.frames : config.vision.frames;
  const bool still = diffusion.frame_scale == 1;
  if (still && frames != 1)
    throw UserError(fmt::format("{}: makes images; leave --frames out", config.name));
  if ((frames - 1) % diffusion.frame_scale != 0) {
    const std::int64_t less = (frames - 1) / diffusion.frame_scale * diffusion.frame_scale + 1;
    throw UserError(fmt::format(
        "{}: --frames must be one more than a multiple of {}, not {}; {} or {} would do",
        config.name, diffusion.frame_scale, frames, less, less + diffusion.frame_scale));
  }
  const std::int64_t latent = (frames - 1) / diffusion.frame_scale + 1;
  return (latent + diffusion.patch_frames - 1) / diffusion.patch_frames;
}

}  // namespace

DenoiserBuilder::DenoiserBuilder(const ModelConfig& config, const Binding& binding)
    : LatentBuilder(config.name, 1),
      config_(config),
      sharing_(token_sharing(config, binding)),
      batch_(binding.batch) {
  const std::int64_t patch = config.vision.patch;
  const LatentSize latent = latent_size(config, binding, patch);
  height_ = latent.height / patch;
  width_ = latent.width / patch;
  frames_ = frames_in_tokens(config, binding);
  if (sharing_.ranks > tokens()) {
    throw UserError(fmt::format("{}: its {} tokens are fewer than --cp {}; lower it", config.name,
                                tokens(), sharing_.ranks));
  }
}

TensorId DenoiserBuilder::own_share(const std::string& name, TensorId x) {
  if (sharing_.ranks == 1) return x;
  if (const std::int64_t added = own_tokens() * sharing_.ranks - tokens(); added > 0)
    x = op(name + ".pad", "Pad", {x}, {{"pads", Shape{0, 0, 0, 0, added, 0}}});
  return op(name + ".share", "Slice", {x},
            {{"axis", std::int64_t{1}}, {"begin", std::int64_t{0}}, {"end", own_tokens()}});
}

TensorId DenoiserBuilder::all_shares(const std::string& name, TensorId x) {
  if (sharing_.ranks == 1) return x;
  const std::int64_t padded = own_tokens() * sharing_.ranks;
  x = op(name + ".all_gather", "AllGather", {x},
         {{"axis", std::int64_t{1}}, {"ranks", sharing_.ranks}, {"size", padded}});
  if (padded == tokens()) return x;
  return op(name + ".unpad", "Slice", {x},
            {{"axis", std::int64_t{1}}, {"begin", std::int64_t{0}}, {"end", tokens()}});
}

std::int64_t DenoiserBuilder::text_rows(std::int64_t length) const {
  return length % sharing_.ranks == 0 ? length / sharing_.ranks : length;
}

TensorId DenoiserBuilder::own_text(const std::string& name, TensorId x) {
  const std::int64_t rows = text_rows(shape(x)[1]);
  if (rows == shape(x)[1]) return x;
  return op(name + ".share", "Slice", {x},
            {{"axis", std::int64_t{1}}, {"begin", std::int64_t{0}}, {"end", rows}});
}

TensorId DenoiserBuilder::attended(const std::string& name, const SharedHeads& own) {
  if (sharing_.ranks == 1) return attend(this, name, own.q, own.k, own.v, {});
  return attend_shared(*this, sharing_, name, own);
}

TensorId DenoiserBuilder::patches_of_image() {
  const std::int64_t patch = config_.vision.patch;
  const std::int64_t channels = config_.diffusion.in_channels;
  const TensorId image = graph().add_input(
      "latent", {batch_, channels, height_ * patch, width_ * patch}, DType::kFp32);
  const TensorId x = op("patch", "Conv",
                        {image, weight("patch.weight", {config_.hidden, channels, patch, patch}),
                         weight("patch.bias", {config_.hidden})},
                        {{"strides", Shape{patch, patch}}});
  return pixels_to_tokens(this, "patch", x);
}

TensorId DenoiserBuilder::packed_patches() {
  const std::int64_t pixels = config_.vision.patch * config_.vision.patch;
  const DiffusionConfig& diffusion = config_.diffusion;
  const std::int64_t columns = diffusion.in_channels * pixels * diffusion.patch_frames;
  const TensorId x = graph().add_input("latent", {batch_, tokens(), columns}, DType::kFp32);
  return linear("patch", x, config_.hidden);
}

TensorId DenoiserBuilder::unpatched(TensorId x) {
  const std::int64_t patch = config_.vision.patch;
  const std::int64_t channels = config_.diffusion.out_channels;
  const Shape split{batch_, height_, width_, patch, patch, channels};
  const TensorId apart = op("unpatch.split", "Reshape", {x}, {{"shape", split}});
  const TensorId sorted =
      op("unpatch.transpose", "Transpose", {apart}, {{"perm", Shape{0, 5, 1, 3, 2, 4}}});
  return op("unpatch", "Reshape", {sorted},
            {{"shape", Shape{batch_, channels, height_ * patch, width_ * patch}}});
}

TensorId DenoiserBuilder::wave_condition(const std::string& name, std::int64_t width) {
  const TensorId waves = graph().add_input(name + "_waves", {batch_, kWaves}, DType::kFp32);
  return condition(name, waves, width);
}

std::vector<TensorId> DenoiserBuilder::vectors(const std::string& name, TensorId x,
                                               std::int64_t count, bool learned) {
  TensorId all = op(name, "Reshape", {x}, {{"shape", Shape{batch_, -1, config_.hidden}}});
  if (learned)
    all = op(name + ".add", "Add", {all, weight(name + ".weight", {count, config_.hidden})});
  const TensorId first =
      op(name + ".split", "Split", {all},
         {{"axis", std::int64_t{1}}, {"sizes", Shape(static_cast<std::size_t>(count), 1)}});
  std::vector<TensorId> each;
  for (std::int64_t i = 0; i < count; ++i) each.push_back(first + static_cast<TensorId>(i));
  return each;
}

TensorId DenoiserBuilder::modulate(const std::string& name, TensorId x, TensorId shift,
                                   TensorId factor) {
  const TensorId normed =
      op(name, "AlongAxis", {x}, {{"function", std::string("MeanVariance")}, {"axes", Shape{2}}});
  if (config_.denoiser.wide_norms) keep_wide(normed);
  return scaled_and_shifted(name, normed, shift, factor);
}

TensorId DenoiserBuilder::norm(const std::string& name, TensorId x) {
  const TensorId normed = layer_norm(name, x);
  return config_.denoiser.wide_norms ? keep_wide(normed) : normed;
}

TensorId DenoiserBuilder::keep_wide(TensorId id) {
  graph().set_dtype(id, DType::kFp32);
  graph().keep(id);
  return id;
}

TensorId DenoiserBuilder::scaled_and_shifted(const std::string& name, TensorId normed,
                                             TensorId shift, TensorId factor) {
  const TensorId above = op(name + ".factor", "Add", {factor}, {{"scalar", 1.0}});
  const TensorId scaled = op(name + ".scale", "Mul", {normed, above});
  if (config_.denoiser.wide_shifts) keep_wide(scaled);
  return op(name + ".shift", "Add", {scaled, shift});
}

TensorId DenoiserBuilder::residual(const std::string& name, TensorId x, TensorId added,
                                   TensorId gate) {
  if (gate != kNoId) {
    added = op(name + ".gate", "Mul", {added, gate});
    if (config_.denoiser.wide_shifts) keep_wide(added);
  }
  return op(name + ".residual", "Add", {added, x});
}

TensorId DenoiserBuilder::project(const std::string& name, TensorId x, std::int64_t width,
                                  std::int64_t heads, bool bias) {
  return split_heads(name, linear(name, x, width, bias), heads);
}

TensorId DenoiserBuilder::project_normed(const std::string& name, TensorId x, std::int64_t width,
                                         std::int64_t heads, bool bias) {
  const QueryNorm norm = config_.denoiser.query_norm;
  TensorId y = linear(name, x, width, bias);
  if (norm == QueryNorm::kRmsAcrossHeads) y = normalise(name + ".norm", y, Norm::kRmsNorm);
  y = split_heads(name, y, heads);
  if (norm == QueryNorm::kRmsPerHead) y = normalise(name + ".norm", y, Norm::kRmsNorm);
  if (norm == QueryNorm::kLayerPerHead) y = normalise(name + ".norm", y, Norm::kLayerNorm);
  return y;
}

TensorId DenoiserBuilder::rotated(const std::string& name, TensorId heads) {
  if (!config_.denoiser.rotary) return heads;
  const Shape in = shape(heads);
  const auto known = places_.find(in[2]);
  const TensorId places =
      known != places_.end()
          ? known->second
          : graph().add_input(fmt::format("places_{}", in[2]), {batch_, in[2]}, DType::kInt32);
  places_.emplace(in[2], places);
  return op(name + ".rotate", "Rope", {heads, places}, {{"dim", in[3]}});
}

TensorId DenoiserBuilder::feed_forward(const std::string& name, TensorId x, std::int64_t inner,
                                       Activation function) {
  const std::int64_t width = shape(x).back();
  const TensorId wide = linear(name + ".intermediate", x, inner);
  return linear(name + ".output", activation(name + ".activation", wide, function), width);
}

}  // namespace foretell
