// The transformer of PixArt: latent images as patches, conditions as shifts and factors of the
// norms, texts by cross attention.
#include "workloads/import/hf/attention.hpp"
#include "workloads/import/hf/diffusion_graph.hpp"
#include "workloads/import/hf/latent_builder.hpp"
#include "workloads/import/hf/tower.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kTimeWaves = 256;
constexpr std::int64_t kShifts = 6;  // shift, factor and gate, of attention and feed-forward

class Pixart {
 public:
  Pixart(const ModelConfig& config, const Binding& binding)
      : config_(config), batch_(binding.batch), b_(config.name, 1) {
    const std::int64_t patch = config.vision.patch;
    side_ = latent_side(config, binding, patch) / patch;
  }

  Graph run() {
    const DiffusionConfig& diffusion = config_.diffusion;
    embed_conditions();
    b_.enter("in");
    TensorId x = patches();
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      const std::string scope = "block." + std::to_string(i);
      b_.enter(scope, scope, static_cast<std::int32_t>(i));
      x = block(x);
    }
    b_.enter("out");
    const std::vector<TensorId> vectors = shifts(time_, 2);
    x = modulate("norm", x, vectors[0], vectors[1]);
    const std::int64_t patch = config_.vision.patch;
    x = b_.linear("projection", x, patch * patch * diffusion.out_channels);
    b_.graph().mark_output(unpatched(x));
    return std::move(b_.graph());
  }

 private:
  void embed_conditions() {
    const DiffusionConfig& diffusion = config_.diffusion;
    Graph& graph = b_.graph();
    b_.enter("conditions");
    const TensorId waves = graph.add_input("time_waves", {batch_, kTimeWaves}, DType::kFp32);
    time_ = b_.condition("time", waves, config_.hidden);
    const TensorId active = b_.op("time.activation2", "Silu", {time_});
    all_shifts_ = b_.linear("shifts", active, kShifts * config_.hidden);
    const TensorId text =
        graph.add_input("encoder_hidden_states",
                        {batch_, diffusion.text_length, diffusion.text_width}, DType::kFp32);
    const TensorId wide = b_.linear("text.0", text, config_.hidden);
    text_ = b_.linear("text.1", b_.activation("text.activation", wide, Activation::kGeluTanh),
                      config_.hidden);
  }

  TensorId patches() {
    const std::int64_t patch = config_.vision.patch;
    const std::int64_t pixels = side_ * patch;
    Graph& graph = b_.graph();
    const TensorId image = graph.add_input(
        "latent", {batch_, config_.diffusion.in_channels, pixels, pixels}, DType::kFp32);
    const TensorId x = b_.op(
        "patch", "Conv",
        {image,
         b_.weight("patch.weight", {config_.hidden, config_.diffusion.in_channels, patch, patch}),
         b_.weight("patch.bias", {config_.hidden})},
        {{"strides", Shape{patch, patch}}});
    // Sines and cosines that are computed once.
    const TensorId positions =
        graph.add_input("positions", {1, side_ * side_, config_.hidden}, DType::kFp32);
    return b_.op("add_position", "Add", {pixels_to_tokens(&b_, "patch", x), positions});
  }

  // `count` vectors per image: those of the condition and learned ones, [batch, 1, hidden] each.
  std::vector<TensorId> shifts(TensorId condition, std::int64_t count) {
    const TensorId flat =
        b_.op("shifts", "Reshape", {condition}, {{"shape", Shape{batch_, -1, config_.hidden}}});
    const TensorId sum =
        b_.op("shifts.add", "Add", {flat, b_.weight("shifts.weight", {count, config_.hidden})});
    const TensorId first =
        b_.op("shifts.split", "Split", {sum},
              {{"axis", std::int64_t{1}}, {"sizes", Shape(static_cast<std::size_t>(count), 1)}});
    std::vector<TensorId> vectors;
    for (std::int64_t i = 0; i < count; ++i) vectors.push_back(first + static_cast<TensorId>(i));
    return vectors;
  }

  // A norm without parameters of its own, times 1 + factor, plus shift.
  TensorId modulate(const std::string& name, TensorId x, TensorId shift, TensorId factor) {
    const TensorId normed = b_.op(name, "AlongAxis", {x},
                                  {{"function", std::string("MeanVariance")}, {"axes", Shape{2}}});
    const TensorId above = b_.op(name + ".factor", "Add", {factor}, {{"scalar", 1.0}});
    return b_.op(name + ".shift", "Add", {b_.op(name + ".scale", "Mul", {normed, above}), shift});
  }

  TensorId block(TensorId x) {
    const std::vector<TensorId> v = shifts(all_shifts_, kShifts);
    TensorId normed = modulate("attention.norm", x, v[0], v[1]);
    TensorId y = attention("attention", normed, normed);
    x = b_.op("attention.residual", "Add", {b_.op("attention.gate", "Mul", {y, v[2]}), x});
    x = b_.op("cross_attention.residual", "Add", {attention("cross_attention", x, text_), x});
    normed = modulate("ffn.norm", x, v[3], v[4]);
    y = b_.linear("ffn.intermediate", normed, config_.intermediate);
    y = b_.linear("ffn.output", b_.activation("ffn.activation", y, Activation::kGeluTanh),
                  config_.hidden);
    return b_.op("ffn.residual", "Add", {b_.op("ffn.gate", "Mul", {y, v[5]}), x});
  }

  TensorId attention(const std::string& name, TensorId from, TensorId to) {
    const auto project = [&](const std::string& what, TensorId input) {
      const std::string full = name + "." + what;
      return b_.split_heads(full, b_.linear(full, input, config_.hidden), config_.heads);
    };
    const TensorId q = project("query", from);
    const TensorId k = project("key", to);
    const TensorId v = project("value", to);
    return b_.linear(name + ".output", attend(&b_, name, q, k, v, {}), config_.hidden);
  }

  // Patches side by side again.
  TensorId unpatched(TensorId x) {
    const std::int64_t patch = config_.vision.patch;
    const std::int64_t channels = config_.diffusion.out_channels;
    const Shape split{batch_, side_, side_, patch, patch, channels};
    const TensorId apart = b_.op("unpatch.split", "Reshape", {x}, {{"shape", split}});
    const TensorId sorted =
        b_.op("unpatch.transpose", "Transpose", {apart}, {{"perm", Shape{0, 5, 1, 3, 2, 4}}});
    return b_.op("unpatch", "Reshape", {sorted},
                 {{"shape", Shape{batch_, channels, side_ * patch, side_ * patch}}});
  }

  const ModelConfig& config_;
  std::int64_t batch_;
  std::int64_t side_ = 0;  // patches along each side
  LatentBuilder b_;
  TensorId time_ = kNoId;
  TensorId all_shifts_ = kNoId;
  TensorId text_ = kNoId;
};

}  // namespace

Graph build_pixart(const ModelConfig& config, const Binding& binding) {
  return Pixart(config, binding).run();
}

}  // namespace foretell
