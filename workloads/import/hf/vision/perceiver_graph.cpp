// Perceiver IO. Latents read many inputs through one cross attention, work on themselves in blocks
// that share their weights, and are read by the outputs through another cross attention.
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/import/hf/vision/tower.hpp"
#include "workloads/import/hf/vision/vision_transformer_graph.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kTrainedPositionWidth = 256;
constexpr std::int64_t kFourierBands = 64;
constexpr std::int64_t kConvChannels = 64;

class Perceiver {
 public:
  Perceiver(const ModelConfig& config, const Binding& binding)
      : config_(config), batch_(binding.batch), block_(config.name) {
    side_ = config.vision.image_size;
    if (binding.image_size > 0 && binding.image_size != side_) {
      throw UserError(config.name + ": --image-size must be " + std::to_string(side_) +
                      ", for which its positions are");
    }
  }

  Graph run() { return ends_with(config_.architecture, "Autoencoding") ? film() : picture(); }

 private:
  Graph picture() {
    const TensorId image = block_.graph().add_input(
        "image", {batch_, config_.vision.channels, side_, side_}, DType::kFp32);
    const TensorId latents = encode(inputs(image));
    block_.enter("decoder");
    const TensorId query =
        for_all(&block_, "query.expand", block_.weight("query", {1, 1, config_.hidden}), batch_);
    Cross cross;
    cross.channels = config_.hidden;
    const TensorId x = cross_attend(query, latents, cross);
    const TensorId logits = block_.linear("classifier", x, config_.labels);
    block_.graph().mark_output(
        block_.op("squeeze", "Reshape", {logits}, {{"shape", Shape{batch_, config_.labels}}}));
    return std::move(block_.graph());
  }

  // A film of 16 frames with its sound and a label: all three go in, and come out again, which
  // takes this many queries that they are asked in 128 parts.
  Graph film() {
    constexpr std::int64_t kParts = 128;
    constexpr std::int64_t kFrames = 16;
    constexpr std::int64_t kPatch = 4;            // pixels along a side
    constexpr std::int64_t kSoundPatches = 1920;  // of as many samples as there are below
    constexpr std::int64_t kSamples = 16;
    constexpr std::int64_t kImageWaves = 195;  // 3 axes of 32 bands, sine and cosine, and place
    constexpr std::int64_t kSoundWaves = 385;  // 1 axis of 192 bands
    constexpr std::int64_t kInputs = 704;      // channels of all inputs
    constexpr std::int64_t kLabelQuery = 1024;
    constexpr std::int64_t kQueries = 1026;  // channels of all queries
    constexpr std::int64_t kOutputs = 512;
    const std::int64_t patches = kFrames * side_ * side_ / (kPatch * kPatch);
    block_.enter("input");
    const TensorId image =
        known("image", patches, kPatch * kPatch * config_.vision.channels + kImageWaves);
    const TensorId sound = known("sound", kSoundPatches, kSamples + kSoundWaves);
    const TensorId label = block_.weight("label", {1, 1, kInputs});
    const TensorId all =
        joined("all", {padded("image", image, kInputs), padded("sound", sound, kInputs), label});
    const TensorId latents = encode(all);
    for (std::int64_t i = 0; i < kParts; ++i) {
      block_.enter("decoder." + std::to_string(i), "decoder",
                   static_cast<std::int32_t>(config_.layers + i));
      const std::int64_t pixels = kFrames * side_ * side_ / kParts;
      const TensorId queries = joined(
          "queries",
          {padded("image", known("image_query", pixels, kImageWaves), kQueries),
           padded("sound", known("sound_query", kSoundPatches / kParts, kSoundWaves), kQueries),
           padded("label", block_.weight("label_query", {1, 1, kLabelQuery}), kQueries)});
      Cross cross;
      cross.channels = config_.hidden;
      cross.keeps_query = false;
      const TensorId x = block_.linear("output", cross_attend(queries, latents, cross), kOutputs);
      block_.graph().mark_output(block_.linear("image_output", x, config_.vision.channels));
      block_.graph().mark_output(block_.linear("sound_output", x, kSamples));
      block_.graph().mark_output(block_.linear("label_output", x, config_.labels));
    }
    return std::move(block_.graph());
  }

  // What is prepared on the host: values with their positions beside them.
  TensorId known(const std::string& name, std::int64_t count, std::int64_t channels) {
    return block_.graph().add_input(name, {batch_, count, channels}, DType::kFp32);
  }

  // With learned channels at the end.
  TensorId padded(const std::string& name, TensorId x, std::int64_t channels) {
    const Shape shape = block_.shape(x);
    const TensorId pad = block_.weight(name + ".padding", {1, 1, channels - shape[2]});
    const TensorId all = block_.op(name + ".padding.expand", "Move", {pad},
                                   {{"function", std::string("Expand")},
                                    {"shape", Shape{shape[0], shape[1], channels - shape[2]}}});
    return block_.op(name + ".pad", "Concat", {x, all}, {{"axis", std::int64_t{-1}}});
  }

  TensorId joined(const std::string& name, std::vector<TensorId> parts) {
    for (TensorId& part : parts) part = for_all(&block_, name + ".expand", part, batch_);
    return block_.op(name, "Concat", std::move(parts), {{"axis", std::int64_t{1}}});
  }

  // Pixels with their positions beside them: [batch, pixels, channels].
  TensorId inputs(TensorId image) {
    block_.enter("input");
    if (ends_with(config_.architecture, "Learned")) {
      const TensorId pixels =
          pixels_to_tokens(&block_, "pixels", conv(image, kTrainedPositionWidth, 1, 1, true));
      const TensorId table =
          block_.weight("position.weight", {1, side_ * side_, kTrainedPositionWidth});
      return with_positions(pixels,
                            block_.linear("position.projection", table, kTrainedPositionWidth));
    }
    const std::int64_t fourier = 2 * (2 * kFourierBands + 1);
    if (ends_with(config_.architecture, "Fourier")) {
      const TensorId pixels = pixels_to_tokens(&block_, "pixels", image);
      return with_positions(pixels, known_positions(side_, fourier));
    }
    TensorId x = conv(image, kConvChannels, 7, 2, false);
    x = block_.op("conv.norm", "BatchNorm",
                  {x, block_.weight("conv.norm.weight", {kConvChannels}),
                   block_.weight("conv.norm.bias", {kConvChannels})});
    x = block_.op("conv.activation", "Relu", {x});
    x = block_.op("conv.pool", "MaxPool", {x},
                  {{"kernel", Shape{3, 3}}, {"strides", Shape{2, 2}}, {"pads", Shape{1, 1, 1, 1}}});
    const std::int64_t side = block_.shape(x)[2];
    return with_positions(pixels_to_tokens(&block_, "pixels", x), known_positions(side, fourier));
  }

  TensorId conv(TensorId image, std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                bool bias) {
    std::vector<TensorId> inputs{
        image, block_.weight("conv.weight", {channels, config_.vision.channels, kernel, kernel})};
    if (bias) inputs.push_back(block_.weight("conv.bias", {channels}));
    return block_.op("conv", "Conv", inputs,
                     {{"strides", Shape{stride, stride}}, {"pads", Shape(4, kernel / 2)}});
  }

  // Sines and cosines that are computed once and given to every call: no parameters.
  TensorId known_positions(std::int64_t side, std::int64_t width) {
    return block_.graph().add_input("positions", {1, side * side, width}, DType::kFp32);
  }

  TensorId with_positions(TensorId pixels, TensorId positions) {
    return block_.op("concat", "Concat",
                     {pixels, for_all(&block_, "position.expand", positions, batch_)},
                     {{"axis", std::int64_t{-1}}});
  }

  TensorId encode(TensorId inputs) {
    const PerceiverConfig& perceiver = config_.perceiver;
    block_.enter("encoder.cross");
    TensorId x = for_all(&block_, "latents.expand",
                         block_.weight("latents", {1, perceiver.latents, config_.hidden}), batch_);
    Cross cross;
    cross.channels = block_.shape(inputs)[2];
    cross.heads = perceiver.cross_heads;
    x = cross_attend(x, inputs, cross);
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      block_.enter("encoder." + std::to_string(i),
                   "encoder.shared." + std::to_string(i % perceiver.self_attends),
                   static_cast<std::int32_t>(i));
      x = self_attend(x);
    }
    return x;
  }

  struct Cross {
    std::int64_t channels = 0;  // of queries, keys and values
    std::int64_t heads = 1;
    bool keeps_query = true;  // adds what it found to the query
  };

  TensorId cross_attend(TensorId x, TensorId inputs, const Cross& cross) {
    const TensorId q = block_.layer_norm("attention.norm", x);
    const TensorId kv = block_.layer_norm("attention.input_norm", inputs);
    return feed_forward(attention(x, q, kv, cross));
  }

  TensorId self_attend(TensorId x) {
    const TensorId normed = block_.layer_norm("attention.norm", x);
    return feed_forward(attention(x, normed, normed, {config_.hidden, config_.heads, true}));
  }

  TensorId attention(TensorId x, TensorId from, TensorId to, const Cross& cross) {
    const auto project = [&](const std::string& name, TensorId input) {
      return block_.split_heads(name, block_.linear(name, input, cross.channels), cross.heads);
    };
    const TensorId q = project("attention.query", from);
    const TensorId k = project("attention.key", to);
    const TensorId v = project("attention.value", to);
    const TensorId context = attend(&block_, "attention", q, k, v, {});
    const TensorId attended = block_.linear("attention.output", context, block_.shape(x)[2]);
    return cross.keeps_query ? block_.op("attention.residual", "Add", {attended, x}) : attended;
  }

  TensorId feed_forward(TensorId x) {
    const std::int64_t width = block_.shape(x)[2];
    TensorId fed = block_.linear("ffn.intermediate", block_.layer_norm("ffn.norm", x), width);
    fed = block_.linear("ffn.output", block_.activation("ffn.activation", fed, config_.activation),
                        width);
    return block_.op("ffn.residual", "Add", {fed, x});
  }

  const ModelConfig& config_;
  std::int64_t batch_;
  std::int64_t side_ = 0;
  BlockBuilder block_;
};

}  // namespace

Graph build_perceiver(const ModelConfig& config, const Binding& binding) {
  return Perceiver(config, binding).run();
}

}  // namespace foretell
