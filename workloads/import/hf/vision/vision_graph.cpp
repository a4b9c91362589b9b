#include "workloads/import/hf/vision/vision_graph.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/diffusion/diffusion_graph.hpp"
#include "workloads/import/hf/vision/vision_transformer_graph.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kExpansion = 4;  // of a bottleneck's last convolution

TensorId resnet_block(const VisionConfig& vision, ImageBuilder* b, const std::string& name,
                      TensorId x, std::int64_t width, std::int64_t stride) {
  const bool bottleneck = vision.bottleneck;
  const std::int64_t inner = bottleneck ? vision.expansion * width / kExpansion : width;
  TensorId y;
  if (bottleneck) {
    y = b->conv_norm(name + ".0", x, inner, {1, 1}, "Relu");
    y = b->conv_norm(name + ".1", y, inner, {3, stride}, "Relu");
    y = b->conv_norm(name + ".2", y, width, {1, 1}, "");
  } else {
    y = b->conv_norm(name + ".0", x, inner, {3, stride}, "Relu");
    y = b->conv_norm(name + ".1", y, inner, {3, 1}, "");
  }
  const bool projects = stride > 1 || b->shape(x)[1] != width;
  const TensorId shortcut =
      projects ? b->conv_norm(name + ".shortcut", x, width, {1, stride}, "") : x;
  return b->activate(name + ".activation", b->op(name + ".residual", "Add", {y, shortcut}), "Relu");
}

void build_resnet(const ModelConfig& config, ImageBuilder* b, TensorId image) {
  const VisionConfig& vision = config.vision;
  TensorId x = b->conv_norm("embedder", image, config.embedding, {7, 2}, "Relu");
  x = b->max_pool("embedder.pool", x, 3, 2, 1);
  for (std::size_t stage = 0; stage < vision.depths.size(); ++stage) {
    for (std::int64_t block = 0; block < vision.depths[stage]; ++block) {
      const std::string name = "stage." + std::to_string(stage) + "." + std::to_string(block);
      const std::int64_t stride = block == 0 && stage > 0 ? 2 : 1;
      x = resnet_block(vision, b, name, x, vision.widths[stage], stride);
    }
  }
  x = b->flatten("flatten", b->op("pool", "GlobalAveragePool", {x}));
  b->graph().mark_output(b->linear("classifier", x, config.labels));
}

// timm's makes the first two layers of the classifier convolutions, the first of them over all of
// the pixels (TIMMVGG in hw/sources.yaml).
void build_vgg(const ModelConfig& config, ImageBuilder* b, TensorId image) {
  constexpr std::int64_t kPooled = 7;  // the classifier sees 7 x 7 pixels
  const VisionConfig& vision = config.vision;
  TensorId x = image;
  for (std::size_t stage = 0; stage < vision.depths.size(); ++stage) {
    const std::string name = "features." + std::to_string(stage);
    for (std::int64_t i = 0; i < vision.depths[stage]; ++i) {
      const std::string layer = name + "." + std::to_string(i);
      x = b->conv(layer, x, vision.widths[stage], {3, 1}, true);
      x = b->activate(layer + ".activation", x, "Relu");
    }
    x = b->max_pool(name + ".pool", x, 2, 2, 0);
  }
  if (b->shape(x)[2] != kPooled) {
    throw UserError(config.name + ": --image-size must be " +
                    std::to_string(kPooled << vision.depths.size()) +
                    ": its classifier takes 7 x 7 pixels");
  }
  const bool convolves = config.model_type == "timm_vgg";
  if (!convolves) x = b->flatten("flatten", x);
  for (const char* name : {"classifier.0", "classifier.1"}) {
    const std::int64_t window = b->shape(x).size() > 2 ? b->shape(x)[2] : 1;
    x = convolves ? b->conv(name, x, config.intermediate, {window, 1, false}, true)
                  : b->linear(name, x, config.intermediate);
    x = b->activate(std::string(name) + ".activation", x, "Relu");
  }
  if (convolves) x = b->flatten("flatten", x);
  b->graph().mark_output(b->linear("classifier.2", x, config.labels));
}

// Two branches of stages, each of which sees the features and what both said before.
void build_openpose(const ModelConfig& config, ImageBuilder* b, TensorId image) {
  constexpr std::int64_t kHidden = 128;
  constexpr std::int64_t kFirstHidden = 512;
  const VisionConfig& vision = config.vision;
  const auto conv = [&](const std::string& name, TensorId x, std::int64_t width,
                        std::int64_t kernel) {
    return b->activate(name + ".activation", b->conv(name, x, width, {kernel, 1}, true), "Relu");
  };
  TensorId x = image;
  for (std::size_t stage = 0; stage < vision.depths.size(); ++stage) {
    const std::string name = "features." + std::to_string(stage);
    if (stage > 0) x = b->max_pool(name + ".pool", x, 2, 2, 0);
    for (std::int64_t i = 0; i < vision.depths[stage]; ++i)
      x = conv(name + "." + std::to_string(i), x, vision.widths[stage], 3);
  }
  x = conv("features.narrow.0", x, 2 * kHidden, 3);
  const TensorId features = conv("features.narrow.1", x, kHidden, 3);
  TensorId seen = features;
  for (std::int64_t stage = 0; stage < vision.stages; ++stage) {
    const bool first = stage == 0;
    std::vector<TensorId> said;
    for (const std::int64_t channels : {config.labels, vision.second_labels}) {
      const std::string name = "stage." + std::to_string(stage) + "." + std::to_string(said.size());
      TensorId y = seen;
      for (std::int64_t i = 0; i < (first ? 3 : 5); ++i)
        y = conv(name + "." + std::to_string(i), y, kHidden, first ? 3 : 7);
      y = conv(name + ".hidden", y, first ? kFirstHidden : kHidden, 1);
      said.push_back(b->conv(name + ".out", y, channels, {1, 1}, true));
    }
    if (stage + 1 < vision.stages) {
      seen = b->concat("stage." + std::to_string(stage) + ".concat", {said[0], said[1], features});
    } else {
      for (const TensorId branch : said) b->graph().mark_output(branch);
    }
  }
}

TensorId double_conv(ImageBuilder* b, const std::string& name, TensorId x, std::int64_t width) {
  x = b->conv_norm(name + ".0", x, width, {3, 1}, "Relu");
  return b->conv_norm(name + ".1", x, width, {3, 1}, "Relu");
}

void build_unet(const ModelConfig& config, ImageBuilder* b, TensorId image) {
  const std::vector<std::int64_t>& widths = config.vision.widths;
  const std::int64_t step = std::int64_t{1} << (widths.size() - 1);
  if (b->shape(image)[2] % step != 0) {
    throw UserError(config.name + ": --image-size must be a multiple of " + std::to_string(step) +
                    ": the image is halved " + std::to_string(widths.size() - 1) + " times");
  }
  std::vector<TensorId> levels{double_conv(b, "in", image, widths[0])};
  for (std::size_t i = 1; i < widths.size(); ++i) {
    const std::string name = "down." + std::to_string(i);
    const TensorId pooled = b->max_pool(name + ".pool", levels.back(), 2, 2, 0);
    levels.push_back(double_conv(b, name, pooled, widths[i]));
  }
  TensorId x = levels.back();
  for (std::size_t i = widths.size() - 1; i-- > 0;) {
    const std::string name = "up." + std::to_string(i);
    const TensorId weight =
        b->graph().add_weight(name + ".weight", {b->shape(x)[1], widths[i], 2, 2}, DType::kFp32);
    const TensorId bias = b->graph().add_weight(name + ".bias", {widths[i]}, DType::kFp32);
    x = b->op(name, "ConvTranspose", {x, weight, bias},
              {{"strides", std::vector<std::int64_t>{2, 2}}});
    x = double_conv(b, name, b->concat(name + ".concat", {levels[i], x}), widths[i]);
  }
  b->graph().mark_output(b->conv("out", x, config.labels, {1, 1}, true));
}

// Paths of detectors join images that were halved and made twice as large again: each half is
// whole.
void check_halves(const ModelConfig& config, std::int64_t side) {
  std::size_t halvings = 0;
  if (config.model_type == "yolov4") halvings = config.vision.depths.size();
  if (config.model_type == "yolov5" || config.model_type == "yolov5_seg")
    halvings = config.vision.depths.size() + 1;
  const std::int64_t step = std::int64_t{1} << halvings;
  if (side % step == 0) return;
  throw UserError(fmt::format("--image-size must be a multiple of {}, as it is halved {} times",
                              step, halvings));
}

Graph build_convolutions(const ModelConfig& config, const Binding& binding) {
  const std::int64_t side = binding.image_size > 0 ? binding.image_size : config.vision.image_size;
  ImageBuilder builder(config.name);
  const TensorId image = builder.graph().add_input(
      "image", {binding.batch, config.vision.channels, side, side}, DType::kFp32);
  try {
    check_halves(config, side);
    if (config.model_type == "resnet") build_resnet(config, &builder, image);
    if (config.model_type == "vgg" || config.model_type == "timm_vgg")
      build_vgg(config, &builder, image);
    if (config.model_type == "unet") build_unet(config, &builder, image);
    if (config.model_type == "yolov4") build_yolo(config, &builder, image);
    if (starts_with(config.model_type, "yolov5")) build_yolov5(config, &builder, image);
    if (config.model_type == "mobilenet_v3") build_mobilenetv3(config, &builder, image);
    if (config.model_type == "mobilenet_v2") build_mobilenet(config, &builder, image);
    if (config.model_type == "densenet") build_densenet(config, &builder, image);
    if (config.model_type == "inception_v3") build_inception(config, &builder, image);
    if (config.model_type == "openpose") build_openpose(config, &builder, image);
  } catch (const UserError& error) {
    throw UserError(config.name + " for images of " + std::to_string(side) + " x " +
                    std::to_string(side) + ": " + error.what());
  }
  FORETELL_CHECK(!builder.graph().outputs().empty(), "a network without a builder");
  return builder.take();
}

// Networks that are not made of convolutions alone.
struct Builder {
  std::string_view model_type;
  Graph (*build)(const ModelConfig& config, const Binding& binding);
};
constexpr std::array<Builder, 27> kBuilders{
    {{"vit", build_vit},
     {"mlp_mixer", build_mixer},
     {"clip", build_clip},
     {"clip_text_model", build_clip_text},
     {"dinov2", build_dinov2},
     {"dinov2_with_registers", build_dinov2},
     {"dinov3_vit", build_dinov3},
     {"swin", build_swin},
     {"swinv2", build_swin},
     {"siglip", build_siglip},
     {"siglip2", build_siglip},
     {"siglip2_vision_model", build_siglip_tower},
     {"siglip_vision_model", build_siglip_tower},
     {"perceiver", build_perceiver},
     {"unet_2d_condition", build_denoising_unet},
     {"autoencoder_kl", build_image_decoder},
     {"autoencoder_kl_hunyuan_video", build_video_decoder},
     {"autoencoder_kl_wan", build_video_decoder},
     {"pixart_transformer_2d", build_cross_denoiser},
     {"hunyuan_dit_2d", build_cross_denoiser},
     {"sana_transformer_2d", build_cross_denoiser},
     {"wan_transformer_3d", build_cross_denoiser},
     {"sd3_transformer_2d", build_joint_denoiser},
     {"flux_transformer_2d", build_joint_denoiser},
     {"qwenimage_transformer_2d", build_joint_denoiser},
     {"cogvideox_transformer_3d", build_joint_denoiser},
     {"hunyuan_video_transformer_3d", build_joint_denoiser}}};

}  // namespace

Graph build_vision(const ModelConfig& config, const Binding& binding) {
  for (const Builder& builder : kBuilders) {
    if (builder.model_type == config.model_type) return builder.build(config, binding);
  }
  return build_convolutions(config, binding);
}

}  // namespace foretell
