// YOLO v5, release 6: stages of residual blocks on half of the channels, a path that goes up and
// down again with a block at each size, and one convolution as the head of each size. With masks, a
// branch of prototypes; as a classifier, the stages alone.
#include "workloads/import/hf/vision/vision_graph.hpp"

namespace foretell {
namespace {

class YoloFive {
 public:
  YoloFive(const ModelConfig& config, ImageBuilder* builder) : config_(config), b_(builder) {}

  void run(TensorId image) {
    const VisionConfig& vision = config_.vision;
    TensorId x = stem(image, vision.widths.front() / 2);
    for (std::size_t i = 0; i < vision.depths.size(); ++i) {
      const std::string name = "stage." + std::to_string(i);
      x = silu(name + ".down", x, vision.widths[i], {3, 2});
      x = block(name, x, vision.widths[i], vision.depths[i], true);
      if (i > 0) levels_.push_back(x);
    }
    if (config_.model_type == "yolov5_cls") return classify(x);
    levels_.back() = pooled(x);
    neck();
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const std::string name = "head." + std::to_string(i);
      b_->graph().mark_output(b_->conv(name, levels_[i], config_.labels, {1, 1}, true));
    }
    if (vision.second_labels > 0) prototypes(levels_.front());
  }

 private:
  using Window = ImageBuilder::Window;

  TensorId silu(const std::string& name, TensorId x, std::int64_t channels, Window window) {
    return b_->conv_norm(name, x, channels, window, "Silu");
  }

  // Windows of 6 pixels every 2, with 2 around the image.
  TensorId stem(TensorId image, std::int64_t channels) {
    const TensorId weight = b_->graph().add_weight(
        "stem.weight", {channels, config_.vision.channels, 6, 6}, DType::kFp32);
    const TensorId x = b_->op(
        "stem", "Conv", {image, weight},
        {{"strides", std::vector<std::int64_t>{2, 2}}, {"pads", std::vector<std::int64_t>(4, 2)}});
    return b_->activate("stem.activation", b_->batch_norm("stem.norm", x), "Silu");
  }

  // Half of the channels pass by `count` blocks of two convolutions.
  TensorId block(const std::string& name, TensorId x, std::int64_t width, std::int64_t count,
                 bool residual) {
    const std::int64_t half = width / 2;
    const TensorId past = silu(name + ".past", x, half, {1, 1});
    TensorId y = silu(name + ".through", x, half, {1, 1});
    for (std::int64_t i = 0; i < count; ++i) {
      const std::string inner = name + "." + std::to_string(i);
      const TensorId z = silu(inner + ".1", silu(inner + ".0", y, half, {1, 1}), half, {3, 1});
      y = residual ? b_->op(inner + ".residual", "Add", {y, z}) : z;
    }
    return silu(name + ".merge", b_->concat(name + ".concat", {y, past}), width, {1, 1});
  }

  // Three poolings, one after the other.
  TensorId pooled(TensorId x) {
    const std::int64_t width = b_->shape(x)[1];
    std::vector<TensorId> parts{silu("pyramid.in", x, width / 2, {1, 1})};
    for (int i = 0; i < 3; ++i)
      parts.push_back(b_->max_pool("pyramid.pool" + std::to_string(i), parts.back(), 5, 1, 2));
    return silu("pyramid.out", b_->concat("pyramid.concat", parts), width, {1, 1});
  }

  void neck() {
    const std::int64_t count = config_.vision.depths.front();
    std::vector<TensorId> sides(levels_.size());
    TensorId x = levels_.back();
    for (std::size_t i = levels_.size() - 1; i > 0; --i) {
      const std::string name = "up." + std::to_string(i);
      const std::int64_t width = b_->shape(levels_[i - 1])[1];
      sides[i] = silu(name + ".narrow", x, width, {1, 1});
      const TensorId raised = b_->upsample(name + ".resize", sides[i]);
      x = block(name, b_->concat(name + ".join", {raised, levels_[i - 1]}), width, count, false);
    }
    std::vector<TensorId> out{x};
    for (std::size_t i = 1; i < levels_.size(); ++i) {
      const std::string name = "down." + std::to_string(i);
      const TensorId lowered = silu(name + ".stride", x, b_->shape(x)[1], {3, 2});
      x = block(name, b_->concat(name + ".join", {lowered, sides[i]}), b_->shape(levels_[i])[1],
                count, false);
      out.push_back(x);
    }
    levels_ = out;
  }

  void prototypes(TensorId x) {
    const std::int64_t width = b_->shape(x)[1];
    x = silu("mask.0", x, width, {3, 1});
    x = silu("mask.1", b_->upsample("mask.resize", x), width, {3, 1});
    b_->graph().mark_output(silu("mask.2", x, config_.vision.second_labels, {1, 1}));
  }

  void classify(TensorId x) {
    constexpr std::int64_t kLast = 1280;
    x = b_->op("pool", "GlobalAveragePool", {silu("last", x, kLast, {1, 1})});
    b_->graph().mark_output(b_->linear("classifier", b_->flatten("flatten", x), config_.labels));
  }

  const ModelConfig& config_;
  ImageBuilder* b_;
  std::vector<TensorId> levels_;  // what the heads look at, the finest first
};

}  // namespace

void build_yolov5(const ModelConfig& config, ImageBuilder* builder, TensorId image) {
  YoloFive(config, builder).run(image);
}

}  // namespace foretell
