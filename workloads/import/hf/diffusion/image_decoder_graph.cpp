// The decoder that makes images of latent ones.
#include "workloads/import/hf/attention.hpp"
#include "workloads/import/hf/diffusion/diffusion_graph.hpp"
#include "workloads/import/hf/diffusion/latent_builder.hpp"
#include "workloads/import/hf/vision/tower.hpp"

namespace foretell {
namespace {

// One head over all pixels.
TensorId pixel_attention(LatentBuilder* b, const std::string& name, TensorId image) {
  const Shape shape = b->shape(image);
  const TensorId normed = pixels_to_tokens(b, name, b->group_norm(name + ".norm", image));
  const auto project = [&](const std::string& what) {
    return b->split_heads(name + "." + what, b->linear(name + "." + what, normed, shape[1]), 1);
  };
  const TensorId q = project("query");
  const TensorId k = project("key");
  const TensorId v = project("value");
  TensorId x = b->linear(name + ".output", attend(b, name, q, k, v, {}), shape[1]);
  x = b->op(name + ".back", "Transpose", {x}, {{"perm", Shape{0, 2, 1}}});
  x = b->op(name + ".unflatten", "Reshape", {x}, {{"shape", shape}});
  return b->op(name + ".residual", "Add", {x, image});
}

}  // namespace

Graph build_image_decoder(const ModelConfig& config, const Binding& binding) {
  const DiffusionConfig& diffusion = config.diffusion;
  const std::vector<std::int64_t>& widths = config.vision.widths;
  LatentBuilder b(config.name, diffusion.groups);
  const LatentSize size = latent_size(config, binding, 1);
  TensorId x = b.graph().add_input(
      "latent", {binding.batch, diffusion.in_channels, size.height, size.width}, DType::kFp32);
  b.enter("in");
  x = b.conv("quantised", x, diffusion.in_channels, 1);
  x = b.conv("conv", x, widths.back(), 3);
  b.enter("middle");
  x = b.resnet("0", x, kNoId, widths.back());
  x = pixel_attention(&b, "attention", x);
  x = b.resnet("1", x, kNoId, widths.back());
  for (std::size_t level = widths.size(); level-- > 0;) {
    b.enter("up." + std::to_string(level));
    for (std::int64_t i = 0; i <= diffusion.layers_per_block; ++i)
      x = b.resnet(std::to_string(i), x, kNoId, widths[level]);
    if (level > 0) x = b.upsample("upsample", x);
  }
  b.enter("out");
  x = b.op("activation", "Silu", {b.group_norm("norm", x)});
  b.graph().mark_output(b.conv("conv", x, diffusion.out_channels, 3));
  return std::move(b.graph());
}

}  // namespace foretell
