// MobileNetV3 (Howard et al. 2019): blocks that are wide inside, depthwise, weighted by channel
// after a look at all pixels, with activations of straight pieces.
#include <algorithm>

#include "workloads/import/hf/vision/vision_graph.hpp"

namespace foretell {
namespace {

constexpr const char* kHardSwish = "HardSwish";
constexpr std::int64_t kChannelStep = 8;  // widths of the parts that weight channels

TensorId depthwise(ImageBuilder* b, const std::string& name, TensorId x, std::int64_t kernel,
                   std::int64_t stride) {
  const std::int64_t channels = b->shape(x)[1];
  const TensorId weight =
      b->graph().add_weight(name + ".weight", {channels, 1, kernel, kernel}, DType::kFp32);
  x = b->op(
      name, "Conv", {x, weight},
      {{"strides", Shape{stride, stride}}, {"pads", Shape(4, kernel / 2)}, {"group", channels}});
  return b->batch_norm(name + ".norm", x);
}

TensorId weighted_channels(ImageBuilder* b, const std::string& name, TensorId x) {
  const std::int64_t channels = b->shape(x)[1];
  // A quarter of the channels, rounded to the nearest multiple, and up where that is a tenth less.
  std::int64_t inner = (channels / 4 + kChannelStep / 2) / kChannelStep * kChannelStep;
  if (10 * inner < 9 * (channels / 4)) inner += kChannelStep;
  TensorId y = b->op(name + ".pool", "GlobalAveragePool", {x});
  y = b->activate(name + ".relu", b->conv(name + ".narrow", y, inner, {1, 1}, true), "Relu");
  y = b->activate(name + ".gate", b->conv(name + ".wide", y, channels, {1, 1}, true),
                  "HardSigmoid");
  return b->op(name + ".weighted", "Mul", {x, y});
}

bool is_weighted(const VisionBlocks& blocks, std::int64_t number) {
  return std::find(blocks.weighted.begin(), blocks.weighted.end(), number) != blocks.weighted.end();
}

}  // namespace

void build_mobilenetv3(const ModelConfig& config, ImageBuilder* b, TensorId image) {
  const VisionConfig& vision = config.vision;
  const VisionBlocks& blocks = vision.blocks;
  TensorId x = b->conv_norm("stem", image, config.embedding, {3, 2}, kHardSwish);
  for (std::size_t i = 0; i < vision.widths.size(); ++i) {
    const auto number = static_cast<std::int64_t>(i) + 1;
    const std::string name = "block." + std::to_string(number);
    const std::string function = number >= blocks.swish_from ? kHardSwish : "Relu";
    const std::int64_t in = b->shape(x)[1];
    TensorId y = x;
    if (blocks.inner[i] != in)
      y = b->conv_norm(name + ".expand", y, blocks.inner[i], {1, 1}, function);
    y = depthwise(b, name + ".depthwise", y, blocks.kernels[i], vision.strides[i]);
    y = b->activate(name + ".activation", y, function);
    if (is_weighted(blocks, number)) y = weighted_channels(b, name + ".channels", y);
    y = b->conv_norm(name + ".project", y, vision.widths[i], {1, 1}, "");
    const bool stays = vision.strides[i] == 1 && in == vision.widths[i];
    x = stays ? b->op(name + ".residual", "Add", {y, x}) : y;
  }
  x = b->conv_norm("last", x, blocks.inner.back(), {1, 1}, kHardSwish);
  x = b->op("pool", "GlobalAveragePool", {x});
  x = b->activate("head.activation", b->conv("head", x, config.intermediate, {1, 1}, true),
                  kHardSwish);
  b->graph().mark_output(b->linear("classifier", b->flatten("flatten", x), config.labels));
}

}  // namespace foretell
