// YOLO v4: a CSPDarknet53 whose last three stages feed a path that goes up and down again, with a
// head at each of three sizes.
#include "workloads/import/hf/vision/vision_graph.hpp"

namespace foretell {
namespace {

class Yolo {
 public:
  Yolo(const ModelConfig& config, ImageBuilder* builder) : config_(config), b_(builder) {}

  void run(TensorId image) {
    const VisionConfig& vision = config_.vision;
    TensorId x = mish("stem", image, vision.widths[0] / 2, {3, 1});
    std::vector<TensorId> stages;
    for (std::size_t i = 0; i < vision.depths.size(); ++i) {
      x = stage("stage." + std::to_string(i), x, vision.widths[i], vision.depths[i], i == 0);
      stages.push_back(x);
    }
    neck(stages[2], stages[3], pyramid(stages[4]));
  }

 private:
  using Window = ImageBuilder::Window;

  TensorId mish(const std::string& name, TensorId x, std::int64_t channels, Window window) {
    return b_->conv_norm(name, x, channels, window, "Mish");
  }
  TensorId leaky(const std::string& name, TensorId x, std::int64_t channels, Window window) {
    return b_->conv_norm(name, x, channels, window, "LeakyRelu");
  }

  // Half of the channels pass by the residual blocks; the first stage keeps all on both ways.
  TensorId stage(const std::string& name, TensorId x, std::int64_t width, std::int64_t blocks,
                 bool is_first) {
    const std::int64_t half = is_first ? width : width / 2;
    x = mish(name + ".down", x, width, {3, 2});
    const TensorId past = mish(name + ".past", x, half, {1, 1});
    x = mish(name + ".through", x, half, {1, 1});
    for (std::int64_t i = 0; i < blocks; ++i) {
      const std::string block = name + "." + std::to_string(i);
      const TensorId y = mish(block + ".0", x, is_first ? half / 2 : half, {1, 1});
      x = b_->op(block + ".residual", "Add", {x, mish(block + ".1", y, half, {3, 1})});
    }
    x = mish(name + ".after", x, half, {1, 1});
    return mish(name + ".merge", b_->concat(name + ".concat", {x, past}), width, {1, 1});
  }

  // Pooling over windows of three sizes at once.
  TensorId pyramid(TensorId x) {
    const std::int64_t width = b_->shape(x)[1];
    x = narrow_wide_narrow("pyramid.in", x, width / 2);
    std::vector<TensorId> parts;
    for (const std::int64_t kernel : {13, 9, 5}) {
      parts.push_back(
          b_->max_pool("pyramid.pool" + std::to_string(kernel), x, kernel, 1, kernel / 2));
    }
    parts.push_back(x);
    return narrow_wide_narrow("pyramid.out", b_->concat("pyramid.concat", parts), width / 2);
  }

  TensorId narrow_wide_narrow(const std::string& name, TensorId x, std::int64_t width) {
    x = leaky(name + ".0", x, width, {1, 1});
    x = leaky(name + ".1", x, 2 * width, {3, 1});
    return leaky(name + ".2", x, width, {1, 1});
  }

  TensorId five(const std::string& name, TensorId x, std::int64_t width) {
    x = narrow_wide_narrow(name, x, width);
    x = leaky(name + ".3", x, 2 * width, {3, 1});
    return leaky(name + ".4", x, width, {1, 1});
  }

  TensorId up(const std::string& name, TensorId deep, TensorId side) {
    const std::int64_t width = b_->shape(deep)[1] / 2;
    const TensorId raised =
        b_->upsample(name + ".resize", leaky(name + ".deep", deep, width, {1, 1}));
    const TensorId across = leaky(name + ".side", side, width, {1, 1});
    return five(name, b_->concat(name + ".concat", {across, raised}), width);
  }

  TensorId down(const std::string& name, TensorId x, TensorId deep) {
    const std::int64_t width = 2 * b_->shape(x)[1];
    const TensorId lowered = leaky(name + ".stride", x, width, {3, 2});
    return five(name, b_->concat(name + ".concat", {lowered, deep}), width);
  }

  void head(const std::string& name, TensorId x) {
    x = leaky(name + ".0", x, 2 * b_->shape(x)[1], {3, 1});
    b_->graph().mark_output(b_->conv(name, x, config_.labels, {1, 1}, true));
  }

  void neck(TensorId fine, TensorId middle, TensorId deep) {
    const TensorId half = up("up.0", deep, middle);
    const TensorId top = up("up.1", half, fine);
    head("head.0", top);
    const TensorId lower = down("down.0", top, half);
    head("head.1", lower);
    head("head.2", down("down.1", lower, deep));
  }

  const ModelConfig& config_;
  ImageBuilder* b_;
};

}  // namespace

void build_yolo(const ModelConfig& config, ImageBuilder* builder, TensorId image) {
  Yolo(config, builder).run(image);
}

}  // namespace foretell
