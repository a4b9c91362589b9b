// The UNet that removes noise from latent images: convolutional blocks, and at most sizes
// transformers over their pixels that look at the text.
#include "model/base/errors.hpp"
#include "workloads/import/hf/attention.hpp"
#include "workloads/import/hf/diffusion/diffusion_graph.hpp"
#include "workloads/import/hf/diffusion/latent_builder.hpp"
#include "workloads/import/hf/vision/tower.hpp"

namespace foretell {
namespace {

class DenoisingUnet {
 public:
  DenoisingUnet(const ModelConfig& config, const Binding& binding)
      : config_(config),
        diffusion_(config.diffusion),
        widths_(config.vision.widths),
        batch_(binding.batch),
        b_(config.name, config.diffusion.groups) {
    const LatentSize size = latent_size(config, binding, std::int64_t{1} << (widths_.size() - 1));
    Graph& graph = b_.graph();
    image_ = graph.add_input("sample", {batch_, diffusion_.in_channels, size.height, size.width},
                             DType::kFp32);
    text_ = graph.add_input("encoder_hidden_states",
                            {batch_, diffusion_.text_length, diffusion_.text_width}, DType::kFp32);
  }

  Graph run() {
    embed_time();
    b_.enter("in");
    TensorId x = b_.conv("conv", image_, widths_[0], 3);
    passed_.push_back(x);
    for (std::size_t i = 0; i < widths_.size(); ++i) x = down(i, x);
    b_.enter("middle");
    x = b_.resnet("0", x, time_, widths_.back());
    x = transformer("0", x, widths_.size() - 1, diffusion_.depths.back());
    x = b_.resnet("1", x, time_, widths_.back());
    for (std::size_t i = widths_.size(); i-- > 0;) x = up(i, x);
    b_.enter("out");
    x = b_.op("activation", "Silu", {b_.group_norm("norm", x)});
    b_.graph().mark_output(b_.conv("conv", x, diffusion_.out_channels, 3));
    return std::move(b_.graph());
  }

 private:
  // Waves of the time step, and of further conditions, become one vector per image.
  void embed_time() {
    constexpr std::int64_t kExpansion = 4;
    const std::int64_t width = kExpansion * widths_[0];
    Graph& graph = b_.graph();
    b_.enter("time");
    const TensorId waves = graph.add_input("time_waves", {batch_, widths_[0]}, DType::kFp32);
    time_ = b_.condition("embedding", waves, width);
    if (diffusion_.added_width == 0) return;
    const TensorId added =
        graph.add_input("added_conditions", {batch_, diffusion_.added_width}, DType::kFp32);
    time_ = b_.op("add", "Add", {time_, b_.condition("added", added, width)});
  }

  TensorId down(std::size_t level, TensorId x) {
    b_.enter("down." + std::to_string(level));
    for (std::int64_t i = 0; i < diffusion_.layers_per_block; ++i) {
      x = b_.resnet(std::to_string(i), x, time_, widths_[level]);
      x = transformer(std::to_string(i), x, level, config_.vision.depths[level]);
      passed_.push_back(x);
    }
    if (level + 1 == widths_.size()) return x;
    x = b_.conv("downsample", x, widths_[level], 3, 2);
    passed_.push_back(x);
    return x;
  }

  TensorId up(std::size_t level, TensorId x) {
    b_.enter("up." + std::to_string(level));
    for (std::int64_t i = 0; i <= diffusion_.layers_per_block; ++i) {
      const std::string name = std::to_string(i);
      x = b_.op(name + ".concat", "Concat", {x, passed_.back()}, {{"axis", std::int64_t{1}}});
      passed_.pop_back();
      x = b_.resnet(name, x, time_, widths_[level]);
      x = transformer(name, x, level, config_.vision.depths[level]);
    }
    return level == 0 ? x : b_.upsample("upsample", x);
  }

  TensorId transformer(const std::string& name, TensorId image, std::size_t level,
                       std::int64_t depth) {
    if (depth == 0) return image;
    const Shape shape = b_.shape(image);
    const std::string scope = name + ".transformer";
    const std::int64_t width = shape[1];
    TensorId x = b_.group_norm(scope + ".norm", image);
    const bool linear = diffusion_.linear_projection;
    if (!linear) x = b_.conv(scope + ".in", x, width, 1);
    x = pixels_to_tokens(&b_, scope, x);
    if (linear) x = b_.linear(scope + ".in", x, width);
    for (std::int64_t i = 0; i < depth; ++i)
      x = block(scope + "." + std::to_string(i), x, diffusion_.heads[level]);
    if (linear) x = b_.linear(scope + ".out", x, width);
    x = b_.op(scope + ".back", "Transpose", {x}, {{"perm", Shape{0, 2, 1}}});
    x = b_.op(scope + ".unflatten", "Reshape", {x}, {{"shape", shape}});
    if (!linear) x = b_.conv(scope + ".out", x, width, 1);
    return b_.op(scope + ".residual", "Add", {x, image});
  }

  TensorId block(const std::string& name, TensorId x, std::int64_t heads) {
    const std::int64_t width = b_.shape(x)[2];
    TensorId normed = b_.layer_norm(name + ".attention.norm", x);
    x = attention(name + ".attention", x, normed, normed, heads);
    normed = b_.layer_norm(name + ".cross_attention.norm", x);
    x = attention(name + ".cross_attention", x, normed, text_, heads);
    normed = b_.layer_norm(name + ".ffn.norm", x);
    const std::int64_t inner = 4 * width;
    const TensorId both = b_.linear(name + ".ffn.gate_up", normed, 2 * inner);
    const TensorId value = b_.op(name + ".ffn.split", "Split", {both},
                                 {{"axis", std::int64_t{-1}}, {"sizes", Shape{inner, inner}}});
    const TensorId gate = b_.activation(name + ".ffn.activation", value + 1, Activation::kGelu);
    const TensorId fed = b_.op(name + ".ffn.product", "Mul", {value, gate});
    return b_.op(name + ".ffn.residual", "Add", {b_.linear(name + ".ffn.output", fed, width), x});
  }

  TensorId attention(const std::string& name, TensorId x, TensorId from, TensorId to,
                     std::int64_t heads) {
    const std::int64_t width = b_.shape(x)[2];
    const auto project = [&](const std::string& what, TensorId input) {
      const std::string full = name + "." + what;
      return b_.split_heads(full, b_.linear(full, input, width, false), heads);
    };
    const TensorId q = project("query", from);
    const TensorId k = project("key", to);
    const TensorId v = project("value", to);
    const TensorId context = attend(&b_, name, q, k, v, {});
    return b_.op(name + ".residual", "Add", {b_.linear(name + ".output", context, width), x});
  }

  const ModelConfig& config_;
  const DiffusionConfig& diffusion_;
  const std::vector<std::int64_t>& widths_;
  std::int64_t batch_;
  LatentBuilder b_;
  TensorId image_ = kNoId;
  TensorId text_ = kNoId;
  TensorId time_ = kNoId;
  std::vector<TensorId> passed_;  // images that the way up sees again
};

}  // namespace

LatentSize latent_size(const ModelConfig& config, const Binding& binding, std::int64_t multiple) {
  const std::int64_t height =
      binding.image_size > 0 ? binding.image_size : config.vision.image_size;
  const std::int64_t given =
      binding.image_size > 0 ? binding.image_width : config.vision.image_width;
  const std::int64_t width = given > 0 ? given : height;
  const std::int64_t step = config.diffusion.scale * multiple;
  const auto check = [&](const char* option, std::int64_t pixels) {
    if (pixels % step == 0) return;
    throw UserError(config.name + ": " + option + " must be a multiple of " + std::to_string(step) +
                    ", not " + std::to_string(pixels) + ": the image is made smaller so often");
  };
  check("--image-size", height);
  check("--image-width", width);
  return {height / config.diffusion.scale, width / config.diffusion.scale};
}

Graph build_denoising_unet(const ModelConfig& config, const Binding& binding) {
  return DenoisingUnet(config, binding).run();
}

}  // namespace foretell
