// Decoders that make videos of latent ones, a tile of them at a time: of HunyuanVideo (Kong et al.
// 2024) and Wan (Wan Team 2025), as the diffusers library has them.
#include <algorithm>
#include <string>
#include <utility>

#include "workloads/import/hf/attention.hpp"
#include "workloads/import/hf/diffusion/diffusion_graph.hpp"
#include "workloads/import/hf/diffusion/latent_builder.hpp"
#include "workloads/import/hf/vision/tower.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kSpan = 3;  // of filters, in frames and pixels

class VideoDecoder {
 public:
  VideoDecoder(const ModelConfig& config, const Binding& binding)
      : config_(config), tiles_(config.diffusion.tiles), b_(config.name, config.diffusion.groups) {
    const std::int64_t side = tiles_.pixels / config.diffusion.scale;
    x_ = b_.graph().add_input(
        "latent", {binding.batch, config.diffusion.in_channels, tiles_.latent_frames, side, side},
        DType::kFp32);
  }

  Graph run() {
    const std::vector<std::int64_t>& widths = config_.vision.widths;
    b_.enter("in");
    TensorId x = conv("quantised", x_, config_.diffusion.in_channels, {1, 1, 1});
    x = conv("conv", x, widths.back(), {kSpan, kSpan, kSpan});
    b_.enter("middle");
    x = resnet("0", x, widths.back());
    x = pixel_attention("attention", x);
    x = resnet("1", x, widths.back());
    for (std::size_t level = widths.size(); level-- > 0;) {
      b_.enter("up." + std::to_string(level));
      for (std::int64_t i = 0; i <= config_.diffusion.layers_per_block; ++i)
        x = resnet(std::to_string(i), x, widths[level]);
      if (level > 0) x = larger(x, config_.diffusion.depths[level] > 0);
    }
    b_.enter("out");
    x = b_.op("activation", "Silu", {norm("norm", x)});
    b_.graph().mark_output(conv("conv", x, config_.diffusion.out_channels, {kSpan, kSpan, kSpan}));
    return std::move(b_.graph());
  }

 private:
  // Frames and pixels are padded by a pass of their own; of frames, before the first: those of the
  // tile before, where they are kept, else the first one again.
  TensorId conv(const std::string& name, TensorId x, std::int64_t channels, const Shape& span) {
    const Shape weight{channels, b_.shape(x)[1], span[0], span[1], span[2]};
    if (span[0] * span[1] > 1) {
      const std::int64_t side = span[1] / 2;
      x = b_.op(name + ".pad", "Pad", {x},
                {{"pads", Shape{0, 0, span[0] - 1, side, side, 0, 0, 0, side, side}}});
    }
    return b_.op(name, "Conv",
                 {x, b_.weight(name + ".weight", weight), b_.weight(name + ".bias", {channels})});
  }

  // Of a pixel's channels, scaled in two passes and shifted, or of groups of them.
  TensorId norm(const std::string& name, TensorId x) {
    if (!tiles_.keeps_frames) return b_.group_norm(name, x);
    const Shape columns{b_.shape(x)[1], 1, 1, 1};
    const TensorId normed = b_.op(name, "AlongAxis", {x},
                                  {{"function", std::string("MeanVariance")}, {"axes", Shape{1}}});
    const TensorId scaled = b_.op(name + ".scale", "Mul", {normed}, {{"scalar", 1.0}});
    const TensorId weighted =
        b_.op(name + ".weight", "Mul", {scaled, b_.weight(name + ".gamma", columns)});
    return b_.op(name + ".shift", "Add", {weighted}, {{"scalar", 0.0}});
  }

  TensorId resnet(const std::string& name, TensorId x, std::int64_t channels) {
    const Shape span{kSpan, kSpan, kSpan};
    TensorId y = b_.op(name + ".activation1", "Silu", {norm(name + ".norm1", x)});
    y = conv(name + ".conv1", y, channels, span);
    y = b_.op(name + ".activation2", "Silu", {norm(name + ".norm2", y)});
    y = conv(name + ".conv2", y, channels, span);
    const bool same = b_.shape(x)[1] == channels;
    const TensorId past = same ? x : conv(name + ".shortcut", x, channels, {1, 1, 1});
    return b_.op(name + ".residual", "Add", {y, past});
  }

  // One head over all pixels of all frames.
  TensorId pixel_attention(const std::string& name, TensorId video) {
    const Shape in = b_.shape(video);
    const Shape flat{in[0], in[1], in[2] * in[3], in[4]};
    const TensorId normed =
        b_.op(name + ".flatten", "Reshape", {norm(name + ".norm", video)}, {{"shape", flat}});
    const TensorId tokens = pixels_to_tokens(&b_, name, normed);
    const auto project = [&](const std::string& what) {
      return b_.split_heads(name + "." + what, b_.linear(name + "." + what, tokens, in[1]), 1);
    };
    const TensorId q = project("query");
    const TensorId k = project("key");
    const TensorId v = project("value");
    TensorId x = b_.linear(name + ".output", attend(&b_, name, q, k, v, {}), in[1]);
    x = b_.op(name + ".back", "Transpose", {x}, {{"perm", Shape{0, 2, 1}}});
    x = b_.op(name + ".unflatten", "Reshape", {x}, {{"shape", in}});
    return b_.op(name + ".residual", "Add", {x, video});
  }

  // Twice as many pixels along each side, and frames. Where frames are kept a convolution makes
  // every frame two, and one within frames halves the channels; else both are copied and one
  // convolution follows, and of the first frame there is no copy.
  TensorId larger(TensorId x, bool more_frames) {
    if (!tiles_.keeps_frames) {
      const Shape in = b_.shape(x);
      const std::int64_t frames = more_frames ? 2 * in[2] - 1 : in[2];
      return conv("upsample", resized("upsample", x, {frames, 2 * in[3], 2 * in[4]}), in[1],
                  {kSpan, kSpan, kSpan});
    }
    if (more_frames) {
      const Shape in = b_.shape(x);
      x = conv("upsample.frames", x, 2 * in[1], {kSpan, 1, 1});
      x = b_.op("upsample.frames.interleave", "Reshape", {x},
                {{"shape", Shape{in[0], in[1], 2 * in[2], in[3], in[4]}}});
    }
    const Shape in = b_.shape(x);
    return conv("upsample", resized("upsample", x, {in[2], 2 * in[3], 2 * in[4]}), in[1] / 2,
                {1, kSpan, kSpan});
  }

  TensorId resized(const std::string& name, TensorId x, Shape sizes) {
    return b_.op(name + ".resize", "Resize", {x},
                 {{"sizes", std::move(sizes)}, {"mode", std::string("nearest")}});
  }

  const ModelConfig& config_;
  const TileConfig& tiles_;
  LatentBuilder b_;
  TensorId x_ = kNoId;
};

// Latent positions that all tiles along an axis of `length` have together.
std::int64_t along(std::int64_t length, std::int64_t tile, std::int64_t stride) {
  std::int64_t sum = 0;
  for (std::int64_t at = 0; at < length; at += stride) sum += std::min(tile, length - at);
  return sum;
}

}  // namespace

Graph build_video_decoder(const ModelConfig& config, const Binding& binding) {
  return VideoDecoder(config, binding).run();
}

double tiles_of_video(const ModelConfig& config, const VisionConfig& sizes) {
  const DiffusionConfig& diffusion = config.diffusion;
  const TileConfig& tiles = diffusion.tiles;
  const std::int64_t width = sizes.image_width > 0 ? sizes.image_width : sizes.image_size;
  const std::int64_t side = tiles.pixels / diffusion.scale;
  const std::int64_t stride = tiles.pixel_stride / diffusion.scale;
  const std::int64_t frames = (sizes.frames - 1) / diffusion.frame_scale + 1;
  const std::int64_t positions = along(sizes.image_size / diffusion.scale, side, stride) *
                                 along(width / diffusion.scale, side, stride) *
                                 along(frames, tiles.latent_frames, tiles.frame_stride);
  return static_cast<double>(positions) / static_cast<double>(side * side * tiles.latent_frames);
}

}  // namespace foretell
