// Classifiers whose convolutions come in more shapes: MobileNetV2 (depthwise), DenseNet (joined
// channels), Inception v3 (branches of square and narrow windows).
#include <utility>

#include "workloads/import/hf/vision/vision_graph.hpp"

namespace foretell {
namespace {

struct Window {
  std::int64_t height = 1;
  std::int64_t width = 1;
  std::int64_t stride = 1;
  std::int64_t pad_height = 0;
  std::int64_t pad_width = 0;
  std::int64_t group = 1;
};

Window square(std::int64_t side, std::int64_t stride = 1) {
  return {side, side, stride, side / 2, side / 2, 1};
}
// Without padding.
Window valid(std::int64_t side, std::int64_t stride) { return {side, side, stride, 0, 0, 1}; }
Window row(std::int64_t width) { return {1, width, 1, 0, width / 2, 1}; }
Window column(std::int64_t height) { return {height, 1, 1, height / 2, 0, 1}; }

TensorId conv(ImageBuilder* b, const std::string& name, TensorId x, std::int64_t channels,
              const Window& window) {
  const TensorId weight = b->graph().add_weight(
      name + ".weight", {channels, b->shape(x)[1] / window.group, window.height, window.width},
      DType::kFp32);
  const std::int64_t h = window.pad_height;
  const std::int64_t w = window.pad_width;
  return b->op(name, "Conv", {x, weight},
               {{"strides", Shape{window.stride, window.stride}},
                {"pads", Shape{h, w, h, w}},
                {"group", window.group}});
}

// Convolution, batch norm, activation.
TensorId unit(ImageBuilder* b, const std::string& name, TensorId x, std::int64_t channels,
              const Window& window, const std::string& function) {
  x = b->batch_norm(name + ".norm", conv(b, name, x, channels, window));
  return function.empty() ? x : b->activate(name + ".activation", x, function);
}

TensorId average(ImageBuilder* b, const std::string& name, TensorId x, const Window& window) {
  return b->op(name, "AveragePool", {x},
               {{"kernel", Shape{window.height, window.width}},
                {"strides", Shape{window.stride, window.stride}},
                {"pads", Shape(4, window.pad_height)}});
}

void classify(const ModelConfig& config, ImageBuilder* b, TensorId x) {
  x = b->flatten("flatten", b->op("pool", "GlobalAveragePool", {x}));
  b->graph().mark_output(b->linear("classifier", x, config.labels));
}

// Wide inside, narrow at both ends.
TensorId inverted_residual(ImageBuilder* b, const std::string& name, TensorId x,
                           std::int64_t channels, std::int64_t stride, std::int64_t expansion) {
  const std::int64_t in = b->shape(x)[1];
  const std::int64_t inner = expansion * in;
  TensorId y = x;
  if (expansion > 1) y = unit(b, name + ".expand", y, inner, square(1), "Clip");
  Window depthwise = square(3, stride);
  depthwise.group = inner;
  y = unit(b, name + ".depthwise", y, inner, depthwise, "Clip");
  y = unit(b, name + ".project", y, channels, square(1), "");
  return stride == 1 && in == channels ? b->op(name + ".residual", "Add", {y, x}) : y;
}

class Inception {
 public:
  Inception(const ModelConfig& config, ImageBuilder* b) : config_(config), b_(b) {}

  void run(TensorId x) {
    x = relu("stem.0", x, 32, valid(3, 2));
    x = relu("stem.1", x, 32, valid(3, 1));
    x = relu("stem.2", x, 64, square(3));
    x = b_->max_pool("stem.pool0", x, 3, 2, 0);
    x = relu("stem.3", x, 80, square(1));
    x = relu("stem.4", x, 192, valid(3, 1));
    x = b_->max_pool("stem.pool1", x, 3, 2, 0);
    for (const std::int64_t pooled : {32, 64, 64}) x = mixed_squares(next(), x, pooled);
    x = smaller_squares(next(), x);
    for (const std::int64_t inner : {128, 160, 160, 192}) x = mixed_sevens(next(), x, inner);
    x = smaller_sevens(next(), x);
    for (int i = 0; i < 2; ++i) x = mixed_threes(next(), x);
    classify(config_, b_, x);
  }

 private:
  std::string next() { return "mixed." + std::to_string(count_++); }

  TensorId relu(const std::string& name, TensorId x, std::int64_t channels, const Window& window) {
    return unit(b_, name, x, channels, window, "Relu");
  }

  struct Layer {
    std::int64_t channels;
    Window window;
  };
  TensorId chain(const std::string& name, TensorId x, const std::vector<Layer>& layers) {
    for (std::size_t i = 0; i < layers.size(); ++i)
      x = relu(name + "." + std::to_string(i), x, layers[i].channels, layers[i].window);
    return x;
  }
  TensorId pooled(const std::string& name, TensorId x, std::int64_t channels) {
    return relu(name, average(b_, name + ".average", x, square(3)), channels, square(1));
  }

  TensorId mixed_squares(const std::string& n, TensorId x, std::int64_t channels) {
    return b_->concat(n + ".concat",
                      {chain(n + ".one", x, {{64, square(1)}}),
                       chain(n + ".five", x, {{48, square(1)}, {64, square(5)}}),
                       chain(n + ".three", x, {{64, square(1)}, {96, square(3)}, {96, square(3)}}),
                       pooled(n + ".pool", x, channels)});
  }
  TensorId smaller_squares(const std::string& n, TensorId x) {
    return b_->concat(n + ".concat", {chain(n + ".three", x, {{384, valid(3, 2)}}),
                                      chain(n + ".double", x,
                                            {{64, square(1)}, {96, square(3)}, {96, valid(3, 2)}}),
                                      b_->max_pool(n + ".pool", x, 3, 2, 0)});
  }
  TensorId mixed_sevens(const std::string& n, TensorId x, std::int64_t c) {
    return b_->concat(
        n + ".concat",
        {chain(n + ".one", x, {{192, square(1)}}),
         chain(n + ".seven", x, {{c, square(1)}, {c, row(7)}, {192, column(7)}}),
         chain(n + ".double", x,
               {{c, square(1)}, {c, column(7)}, {c, row(7)}, {c, column(7)}, {192, row(7)}}),
         pooled(n + ".pool", x, 192)});
  }
  TensorId smaller_sevens(const std::string& n, TensorId x) {
    return b_->concat(
        n + ".concat",
        {chain(n + ".three", x, {{192, square(1)}, {320, valid(3, 2)}}),
         chain(n + ".seven", x,
               {{192, square(1)}, {192, row(7)}, {192, column(7)}, {192, valid(3, 2)}}),
         b_->max_pool(n + ".pool", x, 3, 2, 0)});
  }
  TensorId mixed_threes(const std::string& n, TensorId x) {
    const TensorId middle = chain(n + ".three", x, {{384, square(1)}});
    const TensorId deep = chain(n + ".double", x, {{448, square(1)}, {384, square(3)}});
    return b_->concat(
        n + ".concat",
        {chain(n + ".one", x, {{320, square(1)}}), relu(n + ".three.row", middle, 384, row(3)),
         relu(n + ".three.column", middle, 384, column(3)),
         relu(n + ".double.row", deep, 384, row(3)),
         relu(n + ".double.column", deep, 384, column(3)), pooled(n + ".pool", x, 192)});
  }

  const ModelConfig& config_;
  ImageBuilder* b_;
  int count_ = 0;
};

}  // namespace

void build_mobilenet(const ModelConfig& config, ImageBuilder* b, TensorId image) {
  constexpr std::int64_t kStem = 32;
  constexpr std::int64_t kLast = 1280;
  const VisionConfig& vision = config.vision;
  TensorId x = unit(b, "stem", image, kStem, square(3, 2), "Clip");
  for (std::size_t stage = 0; stage < vision.depths.size(); ++stage) {
    for (std::int64_t i = 0; i < vision.depths[stage]; ++i) {
      const std::string name = "stage." + std::to_string(stage) + "." + std::to_string(i);
      x = inverted_residual(b, name, x, vision.widths[stage], i == 0 ? vision.strides[stage] : 1,
                            stage == 0 ? 1 : vision.expansion);
    }
  }
  classify(config, b, unit(b, "last", x, kLast, square(1), "Clip"));
}

void build_densenet(const ModelConfig& config, ImageBuilder* b, TensorId image) {
  constexpr std::int64_t kBottleneck = 4;
  const VisionConfig& vision = config.vision;
  const std::int64_t growth = vision.growth;
  const auto norm = [b](const std::string& name, TensorId x) {
    return b->activate(name + ".activation", b->batch_norm(name, x), "Relu");
  };
  TensorId x = unit(b, "stem", image, 2 * growth, square(7, 2), "Relu");
  x = b->max_pool("stem.pool", x, 3, 2, 1);
  for (std::size_t stage = 0; stage < vision.depths.size(); ++stage) {
    for (std::int64_t i = 0; i < vision.depths[stage]; ++i) {
      const std::string name = "stage." + std::to_string(stage) + "." + std::to_string(i);
      TensorId y = conv(b, name + ".0", norm(name + ".norm0", x), kBottleneck * growth, square(1));
      y = conv(b, name + ".1", norm(name + ".norm1", y), growth, square(3));
      x = b->concat(name + ".concat", {x, y});
    }
    if (stage + 1 == vision.depths.size()) break;
    const std::string name = "transition." + std::to_string(stage);
    x = conv(b, name, norm(name + ".norm", x), b->shape(x)[1] / 2, square(1));
    x = average(b, name + ".pool", x, valid(2, 2));
  }
  classify(config, b, norm("last.norm", x));
}

void build_inception(const ModelConfig& config, ImageBuilder* b, TensorId image) {
  Inception(config, b).run(image);
}

}  // namespace foretell
