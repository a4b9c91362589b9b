#include "workloads/import/hf/vision/image_prompt.hpp"

#include <string>
#include <utility>

#include "model/base/errors.hpp"
#include "workloads/import/hf/attention.hpp"
#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/hf/vision/tower.hpp"

namespace foretell {
namespace {

constexpr const char* kScope = "vision";

std::int64_t tokens_along(std::int64_t pixels, std::int64_t step) {
  return (pixels + step - 1) / step;
}

class TowerBuilder {
 public:
  TowerBuilder(BlockBuilder* block, const TowerPart& tower, const PatchedImage& image,
               std::int64_t ranks, std::int64_t first_layer)
      : block_(block), tower_(tower), image_(image), first_layer_(first_layer) {
    const bool divides = tower.heads % ranks == 0 && tower.intermediate % ranks == 0;
    ranks_ = divides ? ranks : 1;
  }

  TensorId build(std::int64_t images) {
    block_->enter(kScope);
    const TensorId pixels = block_->graph().add_input(
        "pixels", {images, image_.patches(), tower_.patch_elements}, DType::kFp32);
    if (tower_.rotates) {
      positions_ =
          block_->graph().add_input("patch_positions", {images, image_.patches()}, DType::kInt64);
    }
    TensorId x = linear("patches", pixels, tower_.hidden, true);
    if (tower_.positions > 0) {
      const Shape places{1, image_.patches(), tower_.hidden};
      x = block_->op("add_position", "Add", {x, block_->weight("position", places)});
    }
    // All projectors but the last read blocks in between; the decoder adds what they make to its
    // first layers.
    const std::int64_t between = tower_.projectors - 1;
    std::int64_t made = 0;
    for (std::int64_t i = 0; i < tower_.layers; ++i) {
      const std::string scope = std::string(kScope) + "." + std::to_string(i);
      block_->enter(scope, scope, static_cast<std::int32_t>(first_layer_ + i));
      x = layer(x);
      if (made < between && (i + 1) * (between + 1) >= (made + 1) * tower_.layers) {
        block_->enter(std::string(kScope) + ".between." + std::to_string(made++));
        block_->graph().mark_output(project(x));
      }
    }
    block_->enter(std::string(kScope) + ".projector");
    return project(x);
  }

 private:
  TensorId kept(const std::string& name, TensorId x, std::int64_t out, TensorId y) {
    block_->graph().keep(block_->weight(name + ".weight", {block_->shape(x).back(), out}));
    return y;
  }
  // Towers stay in the type of the network where the weights of its products do not.
  TensorId linear(const std::string& name, TensorId x, std::int64_t out, bool bias) {
    return kept(name, x, out, block_->linear(name, x, out, bias));
  }
  TensorId summed(const std::string& name, TensorId x, std::int64_t out, bool bias) {
    if (ranks_ == 1) return linear(name, x, out, bias);
    return kept(name, x, out, block_->row_parallel_linear(name, x, out, bias));
  }

  TensorId norm(const std::string& name, TensorId x) {
    return block_->normalise(name, x, tower_.gated ? Norm::kRmsNorm : Norm::kLayerNorm);
  }

  TensorId heads(const std::string& name, TensorId x) {
    return block_->split_heads(name, linear(name, x, tower_.attention_width / ranks_, tower_.bias),
                               tower_.heads / ranks_);
  }

  TensorId rotated(const std::string& name, TensorId x) {
    if (!tower_.rotates) return x;
    return block_->op(name, "Rope", {x, positions_}, {{"dim", block_->shape(x).back()}});
  }

  TensorId layer(TensorId x) {
    const TensorId before = norm("attention.norm", x);
    const TensorId q = rotated("attention.query.rotate", heads("attention.query", before));
    const TensorId k = rotated("attention.key.rotate", heads("attention.key", before));
    const TensorId v = heads("attention.value", before);
    const TensorId context = attend(block_, "attention", q, k, v, {});
    const TensorId attended = summed("attention.output", context, tower_.hidden, tower_.bias);
    const TensorId middle = block_->op("attention.residual", "Add", {attended, x});
    const TensorId in = norm("ffn.norm", middle);
    const std::int64_t width = tower_.intermediate / ranks_;
    TensorId fed = linear("ffn.intermediate", in, width, tower_.bias);
    fed = block_->activation("ffn.activation", fed,
                             tower_.gated ? Activation::kSilu : Activation::kGeluTanh);
    if (tower_.gated) {
      fed = block_->op("ffn.gated", "Mul", {fed, linear("ffn.gate", in, width, tower_.bias)});
    }
    fed = summed("ffn.output", fed, tower_.hidden, tower_.bias);
    return block_->op("ffn.residual", "Add", {fed, middle});
  }

  // [images, patches, hidden] -> [images, queries, width].
  TensorId resampled(TensorId x) {
    const ResamplerPart& part = tower_.resampler;
    const std::int64_t images = block_->shape(x).front();
    if (part.width != tower_.hidden) {
      x = block_->layer_norm("resampler.norm", linear("resampler.patches", x, part.width, false));
    }
    const TensorId learned =
        for_all(block_, "resampler.queries.copies",
                block_->weight("resampler.queries", {1, part.queries, part.width}), images);
    const auto made = [&](const std::string& name, TensorId of) {
      if (part.twice) of = linear(name + ".first", of, part.width, false);
      return block_->split_heads(name, linear(name, of, part.width, true), part.heads);
    };
    const TensorId q = made("resampler.query", block_->layer_norm("resampler.query_norm", learned));
    const TensorId k = made("resampler.key", x);
    const TensorId v = made("resampler.value", x);
    TensorId y =
        linear("resampler.output", attend(block_, "resampler", q, k, v, {}), part.width, true);
    if (part.twice) y = linear("resampler.second", y, part.width, true);
    return block_->layer_norm("resampler.norm_after", y);
  }

  // Patches to tokens of the decoder.
  TensorId project(TensorId x) {
    const Shape shape = block_->shape(x);
    if (tower_.layers > 0) x = norm("norm", x);
    if (tower_.resampler.queries > 0) x = resampled(x);
    if (tower_.pool > 1) {
      x = block_->op("pool", "Move", {x},
                     {{"function", std::string("Average")},
                      {"shape", Shape{shape[0], image_.tokens, shape[2]}}});
    }
    const std::int64_t merged = tower_.merge * tower_.merge;
    if (merged > 1) {
      x = block_->op("merge", "Reshape", {x},
                     {{"shape", Shape{shape[0], image_.tokens, shape[2] * merged}}});
    }
    for (std::size_t i = 0; i < tower_.projector.size(); ++i) {
      const ProjectorStep& step = tower_.projector[i];
      const std::string name = "projector." + std::to_string(i);
      TensorId y = linear(name, x, step.out, step.bias);
      if (step.gated)
        y = block_->op(name + ".gated", "Mul", {y, linear(name + ".gate", x, step.out, step.bias)});
      if (step.shares) {
        x = block_->op(name + ".softmax", "Softmax", {block_->layer_norm(name + ".norm", y)},
                       {{"axis", std::int64_t{-1}}});
      } else {
        x = i + 1 < tower_.projector.size()
                ? block_->activation(name + ".activation", y, Activation::kGelu)
                : y;
      }
    }
    return x;
  }

  BlockBuilder* block_;
  const TowerPart& tower_;
  const PatchedImage& image_;
  std::int64_t first_layer_;
  std::int64_t ranks_ = 1;
  TensorId positions_ = kNoId;
};

}  // namespace

PatchedImage patched_image(const TowerPart& tower, std::int64_t height, std::int64_t width) {
  const std::int64_t along = tower.merge * tower.pool;  // patches that a token covers
  const std::int64_t rows = tokens_along(height, tower.patch * along);
  const std::int64_t columns = tokens_along(width, tower.patch * along);
  const std::int64_t learned = tower.resampler.queries;
  return {rows * along, columns * along, learned > 0 ? learned : rows * columns};
}

TensorId image_tokens(BlockBuilder* block, const TowerPart& tower, std::int64_t images,
                      const PatchedImage& image, std::int64_t ranks, std::int64_t first_layer) {
  return TowerBuilder(block, tower, image, ranks, first_layer).build(images);
}

Graph build_image_tower(const ModelConfig& config, std::int64_t images, const PatchedImage& image,
                        int tensor_parallel) {
  const TowerPart& tower = config.parts_of_decoder.tower;
  if (tower.name.empty()) throw UserError(config.name + ": takes no images");
  BlockBuilder block(config.name);
  block.set_ranks(tensor_parallel);
  block.graph().mark_output(image_tokens(&block, tower, images, image, tensor_parallel, 0));
  return std::move(block.graph());
}

}  // namespace foretell
