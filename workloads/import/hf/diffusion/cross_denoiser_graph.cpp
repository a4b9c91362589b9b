// Transformers that remove noise, whose image tokens attend to one another and then to the text:
// latent images as patches, conditions as shifts and factors of the norms.
#include <fmt/format.h>

#include "workloads/import/hf/diffusion/denoiser_builder.hpp"
#include "workloads/import/hf/diffusion/diffusion_graph.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kPoolHeads = 8;

class CrossDenoiser {
 public:
  CrossDenoiser(const ModelConfig& config, const Binding& binding)
      : config_(config), b_(config, binding), denoiser_(config.denoiser) {}

  Graph run() {
    embed_conditions();
    b_.enter("in");
    TensorId x = denoiser_.packed ? b_.packed_patches() : b_.patches_of_image();
    if (denoiser_.sines) {
      const TensorId sines =
          b_.graph().add_input("positions", {1, b_.tokens(), config_.hidden}, DType::kFp32);
      x = b_.op("add_position", "Add", {x, sines});
    }
    x = b_.own_share("tokens", x);
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      const std::string scope = "block." + std::to_string(i);
      b_.enter(scope, scope, static_cast<std::int32_t>(i));
      x = denoiser_.shifts_per_block ? shifted_block(x, i) : block(x);
    }
    b_.enter("out");
    const std::vector<TensorId> v =
        denoiser_.shifts_per_block
            ? b_.vectors("shifts", b_.linear("condition", active_, 2 * config_.hidden), 2, false)
            : b_.vectors("shifts", time_, 2, true);
    x = b_.modulate("norm", x, v[0], v[1]);
    const std::int64_t patch = config_.vision.patch;
    const DiffusionConfig& diffusion = config_.diffusion;
    x = b_.linear("projection", x, patch * patch * diffusion.patch_frames * diffusion.out_channels);
    x = b_.all_shares("tokens", x);
    b_.graph().mark_output(denoiser_.packed ? x : b_.unpatched(x));
    return std::move(b_.graph());
  }

 private:
  TensorId text_input(const char* name, std::int64_t length, std::int64_t width) {
    return b_.graph().add_input(name, {b_.batch(), length, width}, DType::kFp32);
  }

  void embed_conditions() {
    const DiffusionConfig& diffusion = config_.diffusion;
    b_.enter("conditions");
    time_ = b_.wave_condition("time", config_.hidden);
    if (denoiser_.guided_inside)
      time_ = b_.op("add_guidance", "Add", {time_, b_.wave_condition("guidance", config_.hidden)});
    const TensorId text =
        text_input("encoder_hidden_states", diffusion.text_length, diffusion.text_width);
    if (denoiser_.second_text_width > 0) {
      embed_two_texts(text);
      return;
    }
    active_ = b_.op("time.activation2", "Silu", {time_});
    all_shifts_ = b_.linear("shifts", active_, kShifts * config_.hidden);
    const TensorId wide = b_.linear("text.0", text, config_.hidden);
    text_ = b_.linear("text.1", b_.activation("text.activation", wide, Activation::kGeluTanh),
                      config_.hidden);
    if (denoiser_.linear_attention) text_ = b_.normalise("text.norm", text_, Norm::kRmsNorm);
    if (denoiser_.divides_text) text_ = b_.own_text("text", text_);
  }

  // Tokens of the second encoder as wide as those of the first and after them; the mean of them
  // looks at all and is a condition beside the time.
  void embed_two_texts(TensorId first) {
    const std::int64_t width = config_.diffusion.text_width;
    const std::int64_t own = denoiser_.second_text_width;
    const TensorId second =
        text_input("encoder_hidden_states_2", denoiser_.second_text_length, own);
    const TensorId wide = b_.linear("text.0", second, 4 * own);
    const TensorId narrow =
        b_.linear("text.1", b_.activation("text.activation", wide, Activation::kSilu), width);
    text_ = b_.op("text", "Concat", {first, narrow}, {{"axis", std::int64_t{1}}});
    const TensorId mean = b_.op("pool.mean", "ReduceMean", {second},
                                {{"axis", std::int64_t{1}}, {"keep_dims", std::int64_t{1}}});
    const TensorId q = b_.project("pool.query", mean, own, kPoolHeads, true);
    const TensorId k = b_.project("pool.key", second, own, kPoolHeads, true);
    const TensorId v = b_.project("pool.value", second, own, kPoolHeads, true);
    const TensorId pooled =
        b_.linear("pool.output", attend(&b_, "pool", q, k, v, {}), denoiser_.pooled_width);
    const TensorId inner =
        b_.op("pool.activation", "Silu", {b_.linear("pool.0", pooled, 4 * config_.hidden)});
    const TensorId vector =
        b_.op("pool.reshape", "Reshape", {b_.linear("pool.1", inner, config_.hidden)},
              {{"shape", Shape{b_.batch(), config_.hidden}}});
    active_ = b_.op("condition.activation", "Silu", {b_.op("condition", "Add", {time_, vector})});
  }

  TensorId block(TensorId x) {
    const std::vector<TensorId> v = b_.vectors("shifts", all_shifts_, kShifts, true);
    TensorId y = self_attention(b_.modulate("attention.norm", x, v[0], v[1]));
    x = b_.residual("attention", x, y, v[2]);
    const TensorId from = denoiser_.cross_norm ? b_.norm("cross_attention.norm", x) : x;
    x = b_.residual("cross_attention", x, cross_attention(from), kNoId);
    y = b_.modulate("ffn.norm", x, v[3], v[4]);
    y = denoiser_.convolving
            ? gated_convolution(y)
            : b_.feed_forward("ffn", y, config_.intermediate, Activation::kGeluTanh);
    return b_.residual("ffn", x, y, v[5]);
  }

  // Norms with parameters of their own, of which the first is shifted by the condition.
  TensorId shifted_block(TensorId x, std::int64_t index) {
    if (denoiser_.skips && index >= (config_.layers + 1) / 2) {
      const TensorId both =
          b_.op("skip.concat", "Concat", {x, seen_.back()}, {{"axis", std::int64_t{2}}});
      seen_.pop_back();
      x = b_.linear("skip", b_.norm("skip.norm", both), config_.hidden);
    }
    const TensorId shift =
        b_.vectors("shift", b_.linear("attention.shift", active_, config_.hidden), 1, false)[0];
    const TensorId normed =
        b_.op("attention.add_shift", "Add", {b_.norm("attention.norm", x), shift});
    x = b_.residual("attention", x, self_attention(normed), kNoId);
    x = b_.residual("cross_attention", x, cross_attention(b_.norm("cross_attention.norm", x)),
                    kNoId);
    const TensorId y =
        b_.feed_forward("ffn", b_.norm("ffn.norm", x), config_.intermediate, Activation::kGeluTanh);
    x = b_.residual("ffn", x, y, kNoId);
    if (denoiser_.skips && index < config_.layers / 2) seen_.push_back(x);
    return x;
  }

  TensorId self_attention(TensorId x) {
    const std::string name = "attention";
    const auto project = [&](const std::string& what) {
      return b_.project_normed(name + what, x, config_.hidden, config_.heads, denoiser_.qkv_bias);
    };
    TensorId q = project(".query");
    TensorId k = project(".key");
    const TensorId v =
        b_.project(name + ".value", x, config_.hidden, config_.heads, denoiser_.qkv_bias);
    TensorId y;
    if (denoiser_.linear_attention) {
      y = linear_attention(name, q, k, v);
    } else {
      q = b_.rotated(name + ".query", q);
      k = b_.rotated(name + ".key", k);
      y = b_.attended(name, {q, k, v});
    }
    return b_.linear(name + ".output", y, config_.hidden);
  }

  TensorId cross_attention(TensorId x) {
    const std::string name = "cross_attention";
    const std::int64_t heads = denoiser_.cross_heads > 0 ? denoiser_.cross_heads : config_.heads;
    TensorId q = b_.project_normed(name + ".query", x, config_.hidden, heads, true);
    if (denoiser_.rotary_cross) q = b_.rotated(name + ".query", q);
    const TensorId k = b_.project_normed(name + ".key", text_, config_.hidden, heads, true);
    const TensorId v = b_.project(name + ".value", text_, config_.hidden, heads, true);
    const bool divided = b_.shape(text_)[1] < config_.diffusion.text_length;
    const TensorId y = divided ? b_.attended(name, {q, k, v}) : attend(&b_, name, q, k, v, {});
    return b_.linear(name + ".output", y, config_.hidden);
  }

  // Without a softmax keys meet values first, in FP32: relu(q) (relu(k)^T v), over the sum of the
  // weights, which a column of ones beside the values makes.
  TensorId linear_attention(const std::string& name, TensorId q, TensorId k, TensorId v) {
    q = b_.keep_wide(b_.op(name + ".query.activation", "Relu", {q}));
    k = b_.keep_wide(b_.op(name + ".key.activation", "Relu", {k}));
    const std::int64_t width = b_.shape(v).back();
    const TensorId columns =
        b_.keep_wide(b_.op(name + ".key.columns", "Transpose", {k}, {{"perm", Shape{0, 1, 3, 2}}}));
    const TensorId beside = b_.keep_wide(
        b_.op(name + ".value.ones", "Pad", {v}, {{"pads", Shape{0, 0, 0, 0, 0, 0, 0, 1}}}));
    const TensorId state = b_.keep_wide(b_.op(name + ".state", "MatMul", {columns, beside}));
    const TensorId both = b_.keep_wide(b_.op(name + ".context", "MatMul", {q, state}));
    const TensorId context = b_.op(name + ".sums", "Split", {both},
                                   {{"axis", std::int64_t{3}}, {"sizes", Shape{width, 1}}});
    b_.keep_wide(context);
    b_.keep_wide(context + 1);
    return b_.merge_heads(name, b_.op(name + ".divide", "Div", {context, context + 1}));
  }

  // One by one, three by three per channel, gate, one by one.
  TensorId gated_convolution(TensorId x) {
    const std::int64_t inner = config_.intermediate;
    const Shape image{b_.batch(), config_.hidden, b_.height(), b_.width()};
    const TensorId turned = b_.op("ffn.turn", "Transpose", {x}, {{"perm", Shape{0, 2, 1}}});
    TensorId y = b_.op("ffn.image", "Reshape", {turned}, {{"shape", image}});
    y = b_.op("ffn.activation", "Silu", {b_.conv("ffn.intermediate", y, 2 * inner, 1)});
    y = b_.op("ffn.depthwise", "Conv",
              {y, b_.weight("ffn.depthwise.weight", {2 * inner, 1, 3, 3}),
               b_.weight("ffn.depthwise.bias", {2 * inner})},
              {{"group", 2 * inner}, {"pads", Shape(4, 1)}});
    const TensorId first = b_.op("ffn.halves", "Split", {y},
                                 {{"axis", std::int64_t{1}}, {"sizes", Shape{inner, inner}}});
    const TensorId gate = b_.op("ffn.gate.activation", "Silu", {first + 1});
    y = b_.op("ffn.gated", "Mul", {first, gate});
    y = b_.op("ffn.output", "Conv",
              {y, b_.weight("ffn.output.weight", {config_.hidden, inner, 1, 1})});
    y = b_.op("ffn.flatten", "Reshape", {y},
              {{"shape", Shape{b_.batch(), config_.hidden, b_.tokens()}}});
    return b_.op("ffn.tokens", "Transpose", {y}, {{"perm", Shape{0, 2, 1}}});
  }

  const ModelConfig& config_;
  DenoiserBuilder b_;
  const DenoiserConfig& denoiser_;
  TensorId time_ = kNoId;
  TensorId active_ = kNoId;  // the condition after its activation
  TensorId all_shifts_ = kNoId;
  TensorId text_ = kNoId;
  std::vector<TensorId> seen_;  // by the second half of the blocks again
};

}  // namespace

Graph build_cross_denoiser(const ModelConfig& config, const Binding& binding) {
  return CrossDenoiser(config, binding).run();
}

}  // namespace foretell
