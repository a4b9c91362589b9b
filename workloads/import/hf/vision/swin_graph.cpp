// Swin transformers: attention inside windows of an image, which every second block shifts.
#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"
#include "workloads/import/hf/vision/tower.hpp"
#include "workloads/import/hf/vision/vision_transformer_graph.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kCoordinates = 2;         // of a distance inside a window
constexpr std::int64_t kDistanceHidden = 512;    // of the second version's network of distances
constexpr std::int64_t kMergedPixels = 4;        // that become one between two stages
const Shape kSwapInside = {0, 1, 3, 2, 4, 5};    // rows of windows <-> rows of pixels
const Shape kHeadsOutside = {0, 1, 3, 2, 4};     // [.., tokens, heads, dim] <-> [.., heads, ..]
const Shape kColumnsFirst = {0, 1, 3, 4, 2, 5};  // the four pixels that merge, column by column

// Blocks of one stage see images of this many tokens along a side.
struct WindowStage {
  std::int64_t side = 0;
  std::int64_t window = 0;  // along a side
  std::int64_t heads = 0;
  std::int64_t width = 0;
  std::int64_t windows() const { return (side / window) * (side / window); }
  std::int64_t tokens() const { return window * window; }
};

class SwinBuilder {
 public:
  SwinBuilder(const ModelConfig& config, const Binding& binding)
      : config_(config), second_(config.model_type == "swinv2"), block_(config.name) {
    const std::int64_t asked = binding.image_size;
    image_ = asked > 0 ? asked : config.vision.image_size;
    batch_ = binding.batch;
  }

  Graph build() {
    TensorId x = patches();
    for (std::size_t i = 0; i < config_.vision.depths.size(); ++i) {
      const WindowStage stage = stage_of(i);
      for (std::int64_t b = 0; b < config_.vision.depths[i]; ++b)
        x = add_block(x, stage, i, b, /*shifted=*/b % 2 == 1 && stage.side > stage.window);
      if (i + 1 < config_.vision.depths.size()) x = merged(x, stage, i);
    }
    return finish(x);
  }

 private:
  WindowStage stage_of(std::size_t i) const {
    WindowStage stage;
    stage.side = (image_ / config_.vision.patch) >> i;
    stage.window = std::min(config_.vision.window, stage.side);
    stage.heads = config_.vision.stage_heads[i];
    stage.width = config_.embedding << i;
    const std::int64_t covered = (stage.side * config_.vision.patch)
                                 << i;  // less than the image where halving leaves a rest
    if (stage.side < 1 || covered != image_ || stage.side % stage.window != 0) {
      throw UserError(config_.name + ": images of " + std::to_string(image_) +
                      " pixels do not divide into windows of " +
                      std::to_string(config_.vision.window) + " tokens in stage " +
                      std::to_string(i) + "; a side that does is " +
                      std::to_string(config_.vision.image_size));
    }
    return stage;
  }

  TensorId patches() {
    const std::int64_t patch = config_.vision.patch;
    const TensorId image = block_.graph().add_input(
        "image", {batch_, config_.vision.channels, image_, image_}, DType::kFp32);
    block_.enter("embeddings");
    const TensorId filters =
        block_.weight("patch.weight", {config_.embedding, config_.vision.channels, patch, patch});
    const TensorId bias = block_.weight("patch.bias", {config_.embedding});
    const TensorId pixels =
        block_.op("patch", "Conv", {image, filters, bias}, {{"strides", Shape{patch, patch}}});
    return block_.layer_norm("norm", pixels_to_tokens(&block_, "patch", pixels));
  }

  TensorId add_block(TensorId x, const WindowStage& stage, std::size_t i, std::int64_t b,
                     bool shifted) {
    const std::string name = "stage." + std::to_string(i) + "." + std::to_string(b);
    block_.enter(name, name, layer_++);
    const TensorId before = second_ ? x : block_.layer_norm("attention.norm", x);
    TensorId attended = attention(before, stage, i, shifted);
    if (second_) attended = block_.layer_norm("attention.norm", attended);
    const TensorId middle = block_.op("attention.residual", "Add", {attended, x});
    TensorId fed = second_ ? middle : block_.layer_norm("ffn.norm", middle);
    fed = block_.linear("ffn.intermediate", fed, stage.width * config_.vision.expansion);
    fed = block_.activation("ffn.activation", fed, config_.activation);
    fed = block_.linear("ffn.output", fed, stage.width);
    if (second_) fed = block_.layer_norm("ffn.norm", fed);
    return block_.op("ffn.residual", "Add", {fed, middle});
  }

  TensorId attention(TensorId x, const WindowStage& stage, std::size_t i, bool shifted) {
    if (shifted) x = rolled("attention.shift", x);
    x = in_windows(x, stage);
    TensorId q = heads_of("attention.query", x, stage, config_.qkv_bias);
    TensorId k = heads_of("attention.key", x, stage, config_.qkv_bias && !second_);
    const TensorId v = heads_of("attention.value", x, stage, config_.qkv_bias);
    if (second_) {
      q = unit("attention.query.unit", q);
      k = unit("attention.key.unit", k);
    }
    TensorId scores =
        block_.op("attention.scores", "MatMul", {q, k}, {{"transpose_b", std::int64_t{1}}});
    scores = block_.op("attention.bias", "Add", {scaled(scores, stage), distance_bias(stage)});
    if (shifted) scores = block_.op("attention.mask", "Add", {scores, shift_mask(stage, i)});
    const TensorId weights =
        block_.op("attention.softmax", "Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    TensorId context = block_.op("attention.context", "MatMul", {weights, v});
    context = reordered("attention.context", context, kHeadsOutside,
                        {batch_ * stage.windows(), stage.tokens(), stage.width});
    context = block_.linear("attention.output", context, stage.width);
    context = out_of_windows(context, stage);
    return shifted ? rolled("attention.unshift", context) : context;
  }

  // Reshape, transpose, reshape.
  TensorId reordered(const std::string& name, TensorId x, const Shape& order, const Shape& result,
                     const Shape& split = {}) {
    if (!split.empty()) x = block_.op(name + ".split", "Reshape", {x}, {{"shape", split}});
    x = block_.op(name + ".transpose", "Transpose", {x}, {{"perm", order}});
    return result.empty() ? x : block_.op(name + ".join", "Reshape", {x}, {{"shape", result}});
  }

  TensorId in_windows(TensorId x, const WindowStage& stage) {
    const std::int64_t across = stage.side / stage.window;
    return reordered("attention.windows", x, kSwapInside,
                     {batch_ * stage.windows(), stage.tokens(), stage.width},
                     {batch_, across, stage.window, across, stage.window, stage.width});
  }

  TensorId out_of_windows(TensorId x, const WindowStage& stage) {
    const std::int64_t across = stage.side / stage.window;
    return reordered("attention.image", x, kSwapInside,
                     {batch_, stage.side * stage.side, stage.width},
                     {batch_, across, across, stage.window, stage.window, stage.width});
  }

  // All pixels move, those that leave on one side come back on the other.
  TensorId rolled(const std::string& name, TensorId x) {
    return block_.op(name, "Move", {x},
                     {{"function", std::string("Roll")}, {"shape", block_.shape(x)}});
  }

  // [batch, windows, heads, tokens, dim]
  TensorId heads_of(const std::string& name, TensorId x, const WindowStage& stage, bool bias) {
    return reordered(
        name, block_.linear(name, x, stage.width, bias), kHeadsOutside, {},
        {batch_, stage.windows(), stage.tokens(), stage.heads, stage.width / stage.heads});
  }

  TensorId unit(const std::string& name, TensorId x) {
    return block_.op(name, "AlongAxis", {x},
                     {{"function", std::string("LpNormalization")}, {"axes", Shape{4}}});
  }

  TensorId scaled(TensorId scores, const WindowStage& stage) {
    if (second_) {
      return block_.op("attention.scale", "Mul",
                       {scores, block_.weight("attention.logit_scale", {stage.heads, 1, 1})});
    }
    const std::int64_t head_width = stage.width / stage.heads;
    const double scale = 1.0 / std::sqrt(static_cast<double>(head_width));
    return block_.op("attention.scale", "Mul", {scores}, {{"scalar", scale}});
  }

  // The bias of the pairs of a window, from a table or a small network of their distances: made
  // once, when the weights are there.
  TensorId distance_bias(const WindowStage& stage) {
    std::vector<TensorId> made_of;
    if (second_) {
      made_of = {block_.weight("attention.distance.0.weight", {kCoordinates, kDistanceHidden}),
                 block_.weight("attention.distance.0.bias", {kDistanceHidden}),
                 block_.weight("attention.distance.1.weight", {kDistanceHidden, stage.heads})};
    } else {
      const std::int64_t distances = 2 * stage.window - 1;
      made_of = {block_.weight("attention.distance.table", {distances * distances, stage.heads})};
    }
    return block_.op("attention.distance", "Move", made_of,
                     {{"function", std::string("Gather")},
                      {"shape", Shape{stage.heads, stage.tokens(), stage.tokens()}}});
  }

  // Pixels that only the shift made neighbours do not see each other; one for all blocks of a
  // stage.
  TensorId shift_mask(const WindowStage& stage, std::size_t i) {
    if (masked_stage_ != static_cast<std::int64_t>(i)) {
      masked_stage_ = static_cast<std::int64_t>(i);
      mask_ = block_.graph().add_input("shift_mask." + std::to_string(i),
                                       {stage.windows(), 1, stage.tokens(), stage.tokens()},
                                       DType::kFp32);
    }
    return mask_;
  }

  // Four neighbours become one token of twice the width.
  TensorId merged(TensorId x, const WindowStage& stage, std::size_t i) {
    block_.enter("stage." + std::to_string(i) + ".merge");
    const std::int64_t half = stage.side / 2;
    x = reordered("pixels", x, kColumnsFirst, {batch_, half * half, kMergedPixels * stage.width},
                  {batch_, half, 2, half, 2, stage.width});
    if (!second_) x = block_.layer_norm("norm", x);
    x = block_.linear("reduction", x, 2 * stage.width, false);
    return second_ ? block_.layer_norm("norm", x) : x;
  }

  Graph finish(TensorId x) {
    block_.enter("head");
    x = block_.layer_norm("norm", x);
    const TensorId mean = block_.op("pool", "ReduceMean", {x}, {{"axis", std::int64_t{1}}});
    if (config_.head == Head::kSequence) {
      block_.graph().mark_output(block_.linear("classifier", mean, config_.labels));
    } else {
      block_.graph().mark_output(x);
      block_.graph().mark_output(mean);
    }
    return std::move(block_.graph());
  }

  const ModelConfig& config_;
  bool second_;
  BlockBuilder block_;
  std::int64_t image_ = 0;
  std::int64_t batch_ = 0;
  std::int32_t layer_ = 0;
  std::int64_t masked_stage_ = -1;
  TensorId mask_ = kNoId;
};

}  // namespace

Graph build_swin(const ModelConfig& config, const Binding& binding) {
  return SwinBuilder(config, binding).build();
}

}  // namespace foretell
