// Transformers that remove noise, whose image and text tokens attend to one another together
// (MMDiT): first in blocks with weights for each, then in blocks with one set for both.
#include <algorithm>

#include "workloads/import/hf/diffusion/denoiser_builder.hpp"
#include "workloads/import/hf/diffusion/diffusion_graph.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMoreShifts = 9;    // those of kShifts, and of a second attention
constexpr std::int64_t kSingleShifts = 3;  // of a block that has one norm
constexpr std::int64_t kTokenAxis = 1;
constexpr std::int64_t kHeadTokenAxis = 2;

struct Streams {
  TensorId image = kNoId;
  TensorId text = kNoId;
};

class JointDenoiser {
 public:
  JointDenoiser(const ModelConfig& config, const Binding& binding)
      : config_(config),
        b_(config, binding),
        denoiser_(config.denoiser),
        text_length_(config.diffusion.text_length),
        text_rows_(b_.text_rows(text_length_)) {}

  Graph run() {
    Streams x{kNoId, embed_conditions()};
    b_.enter("in");
    x.image = denoiser_.packed ? b_.packed_patches() : b_.patches_of_image();
    if (denoiser_.sines) {
      const TensorId sines =
          b_.graph().add_input("positions", {1, b_.tokens(), config_.hidden}, DType::kFp32);
      x.image = b_.op("add_position", "Add", {x.image, sines});
    }
    x.image = b_.own_share("tokens", x.image);
    std::int32_t index = 0;
    const auto enter = [&] {
      const std::string scope = "block." + std::to_string(index);
      b_.enter(scope, scope, index++);
    };
    for (std::int64_t i = 0; i < denoiser_.joint_blocks; ++i) {
      enter();
      x = denoiser_.one_weight_set ? shared_block(x) : joint_block(x, i);
    }
    // The network makes text tokens to the end, though they are not asked for.
    if (denoiser_.single_blocks == 0 && !denoiser_.last_drops_text) b_.graph().mark_output(x.text);
    if (denoiser_.single_blocks > 0) {
      b_.enter("join");
      TensorId both = join("tokens", x, kTokenAxis);
      for (std::int64_t i = 0; i < denoiser_.single_blocks; ++i) {
        enter();
        both = single_block(both);
      }
      b_.enter("part");
      const Streams apart = parted("tokens", both);
      b_.graph().mark_output(apart.text);
      x.image = apart.image;
    }
    b_.enter("out");
    if (denoiser_.one_weight_set) x.image = b_.layer_norm("last_norm", x.image);
    const std::vector<TensorId> v = shifts("", 2);
    const TensorId normed = b_.modulate("norm", x.image, v[0], v[1]);
    const std::int64_t patch = config_.vision.patch;
    const DiffusionConfig& diffusion = config_.diffusion;
    const TensorId own = b_.linear("projection", normed,
                                   patch * patch * diffusion.patch_frames * diffusion.out_channels);
    const TensorId out = b_.all_shares("tokens", own);
    b_.graph().mark_output(denoiser_.packed ? out : b_.unpatched(out));
    return std::move(b_.graph());
  }

 private:
  // Returns the text tokens.
  TensorId embed_conditions() {
    const DiffusionConfig& diffusion = config_.diffusion;
    const std::int64_t width =
        denoiser_.condition_width > 0 ? denoiser_.condition_width : config_.hidden;
    b_.enter("conditions");
    TensorId sum = b_.wave_condition("time", width);
    if (denoiser_.guided_inside)
      sum = b_.op("add_guidance", "Add", {sum, b_.wave_condition("guidance", width)});
    if (denoiser_.pooled_width > 0) {
      const TensorId pooled = b_.graph().add_input(
          "pooled_projections", {b_.batch(), denoiser_.pooled_width}, DType::kFp32);
      sum = b_.op("add_pooled", "Add", {sum, b_.condition("pooled", pooled, width)});
    }
    active_ = b_.op("activation", "Silu", {sum});
    const TensorId text = b_.graph().add_input(
        "encoder_hidden_states", {b_.batch(), text_length_, diffusion.text_width}, DType::kFp32);
    const TensorId normed =
        denoiser_.text_norm ? b_.normalise("text.norm", text, Norm::kRmsNorm) : text;
    TensorId x = b_.linear("text", normed, config_.hidden);
    if (denoiser_.refiner_blocks > 0) embed_refined(text);
    for (std::int64_t i = 0; i < denoiser_.refiner_blocks; ++i) {
      b_.enter("refiner." + std::to_string(i));
      x = refiner_block(x);
    }
    return b_.own_text("text", x);
  }

  // The condition of the blocks that the text passes through alone: the time and the mean text.
  void embed_refined(TensorId text) {
    const TensorId mean = b_.op("refiner.mean", "ReduceMean", {text},
                                {{"axis", kTokenAxis}, {"keep_dims", std::int64_t{0}}});
    const TensorId sum = b_.op("refiner.condition", "Add",
                               {b_.wave_condition("refiner.time", config_.hidden),
                                b_.condition("refiner.text", mean, config_.hidden)});
    refined_ = b_.op("refiner.activation", "Silu", {sum});
  }

  TensorId refiner_block(TensorId x) {
    const std::vector<TensorId> gates =
        b_.vectors("gates", b_.linear("condition", refined_, 2 * config_.hidden), 2, false);
    const TensorId normed = b_.layer_norm("attention.norm", x);
    const auto project = [&](const char* what) {
      return b_.project(what, normed, config_.hidden, config_.heads, true);
    };
    const TensorId q = project("attention.query");
    const TensorId k = project("attention.key");
    const TensorId v = project("attention.value");
    const TensorId y =
        b_.linear("attention.output", attend(&b_, "attention", q, k, v, {}), config_.hidden);
    x = b_.residual("attention", x, y, gates[0]);
    const TensorId wide = b_.feed_forward("ffn", b_.layer_norm("ffn.norm", x), config_.intermediate,
                                          Activation::kSilu);
    return b_.residual("ffn", x, wide, gates[1]);
  }

  // `count` vectors that a linear layer makes of the condition.
  std::vector<TensorId> shifts(const std::string& of, std::int64_t count) {
    const TensorId flat = b_.linear(of + "condition", active_, count * config_.hidden);
    return b_.vectors(of + "shifts", flat, count, false);
  }

  // Text first.
  TensorId join(const std::string& name, Streams x, std::int64_t axis) {
    return b_.op(name + ".join", "Concat", {x.text, x.image}, {{"axis", axis}});
  }

  Streams parted(const std::string& name, TensorId both) {
    const TensorId first =
        b_.op(name + ".part", "Split", {both},
              {{"axis", kTokenAxis}, {"sizes", Shape{text_rows_, b_.own_tokens()}}});
    return {first + 1, first};
  }

  struct Heads {
    TensorId q = kNoId;
    TensorId k = kNoId;
    TensorId v = kNoId;
  };
  Heads heads(const std::string& of, TensorId x, bool rotates) {
    const auto normed = [&](const std::string& what) {
      return b_.project_normed(of + what, x, config_.hidden, config_.heads, true);
    };
    Heads all{normed("query"), normed("key"),
              b_.project(of + "value", x, config_.hidden, config_.heads, true)};
    if (rotates) {
      all.q = b_.rotated(of + "query", all.q);
      all.k = b_.rotated(of + "key", all.k);
    }
    return all;
  }

  // Of image tokens alone, or of both, text first.
  TensorId attended(const std::string& name, const Heads& all, bool has_text = true) {
    const bool replicated = has_text && text_rows_ == text_length_;
    return b_.attended(name, {all.q, all.k, all.v, replicated ? text_length_ : 0});
  }

  Streams joint_block(Streams x, std::int64_t index) {
    const std::vector<std::int64_t>& list = denoiser_.twice;
    const bool twice = std::find(list.begin(), list.end(), index) != list.end();
    const bool drops = denoiser_.last_drops_text && index + 1 == denoiser_.joint_blocks;
    const std::vector<TensorId> vi = shifts("image.", twice ? kMoreShifts : kShifts);
    const std::vector<TensorId> vt = shifts("text.", drops ? 2 : kShifts);
    const TensorId image = b_.modulate("image.norm", x.image, vi[0], vi[1]);
    const Heads of_image = heads("image.", image, true);
    const Heads of_text = heads("text.", b_.modulate("text.norm", x.text, vt[0], vt[1]), false);
    const Heads all{join("query", {of_image.q, of_text.q}, kHeadTokenAxis),
                    join("key", {of_image.k, of_text.k}, kHeadTokenAxis),
                    join("value", {of_image.v, of_text.v}, kHeadTokenAxis)};
    const Streams y = parted("attention", attended("attention", all));
    x.image = b_.residual("image.attention", x.image,
                          b_.linear("image.output", y.image, config_.hidden), vi[2]);
    if (twice) {
      const TensorId again = b_.scaled_and_shifted("image.norm.again", image, vi[6], vi[7]);
      const TensorId own =
          b_.linear("image.own.output",
                    attended("image.own", heads("image.own.", again, true), false), config_.hidden);
      x.image = b_.residual("image.own", x.image, own, vi[8]);
    }
    x.image = fed_forward("image.", x.image, vi);
    if (drops) {
      b_.graph().mark_output(y.text);
      return x;
    }
    x.text = b_.residual("text.attention", x.text, b_.linear("text.output", y.text, config_.hidden),
                         vt[2]);
    x.text = fed_forward("text.", x.text, vt);
    return x;
  }

  TensorId fed_forward(const std::string& of, TensorId x, const std::vector<TensorId>& v) {
    const TensorId normed = b_.modulate(of + "ffn.norm", x, v[3], v[4]);
    const TensorId y =
        b_.feed_forward(of + "ffn", normed, config_.intermediate, Activation::kGeluTanh);
    return b_.residual(of + "ffn", x, y, v[5]);
  }

  // Both streams through norms with the same parameters, shifted apart, and the same layers.
  Streams shared_block(Streams x) {
    const auto normed = [&](const std::string& name, const std::vector<TensorId>& v) {
      const auto one = [&](const std::string& of, TensorId tokens, std::size_t from) {
        const TensorId y = b_.op(name + of, "LayerNorm",
                                 {tokens, b_.weight(name + ".gamma", {config_.hidden}),
                                  b_.weight(name + ".beta", {config_.hidden})});
        return b_.scaled_and_shifted(name + of, y, v[from], v[from + 1]);
      };
      return join(name, {one(".image", x.image, 0), one(".text", x.text, 3)}, kTokenAxis);
    };
    const auto added = [&](const std::string& name, TensorId both, const std::vector<TensorId>& v) {
      const Streams y = parted(name, both);
      x.image = b_.residual(name + ".image", x.image, y.image, v[2]);
      x.text = b_.residual(name + ".text", x.text, y.text, v[5]);
    };
    const std::vector<TensorId> first = shifts("attention.", kShifts);
    const Heads all = heads("", normed("attention.norm", first), true);
    added("attention", b_.linear("output", attended("attention", all), config_.hidden), first);
    const std::vector<TensorId> second = shifts("ffn.", kShifts);
    added("ffn",
          b_.feed_forward("ffn", normed("ffn.norm", second), config_.intermediate,
                          Activation::kGeluTanh),
          second);
    return x;
  }

  TensorId single_block(TensorId x) {
    const std::vector<TensorId> v = shifts("", kSingleShifts);
    const TensorId normed = b_.modulate("norm", x, v[0], v[1]);
    const TensorId wide =
        b_.activation("ffn.activation", b_.linear("ffn.intermediate", normed, config_.intermediate),
                      Activation::kGeluTanh);
    const TensorId context = attended("attention", heads("", normed, true));
    const TensorId both = b_.op("concat", "Concat", {context, wide}, {{"axis", std::int64_t{2}}});
    return b_.residual("block", x, b_.linear("output", both, config_.hidden), v[2]);
  }

  const ModelConfig& config_;
  DenoiserBuilder b_;
  const DenoiserConfig& denoiser_;
  std::int64_t text_length_;
  std::int64_t text_rows_;    // of the text that this rank has
  TensorId active_ = kNoId;   // the condition after its activation
  TensorId refined_ = kNoId;  // that of the blocks of the text
};

}  // namespace

Graph build_joint_denoiser(const ModelConfig& config, const Binding& binding) {
  return JointDenoiser(config, binding).run();
}

}  // namespace foretell
