// Operators on images, channels on the partitions: everything but convolutions.
#include <algorithm>
#include <cmath>
#include <string_view>

#include "model/base/errors.hpp"
#include "model/mapping/neuron/image.hpp"
#include "model/mapping/neuron/lowering.hpp"
#include "model/mapping/shared/graph_patterns.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {
namespace {

class ImageLowering {
 public:
  ImageLowering(LoweringContext& context, const Kernel& kernel)
      : context_(context),
        emitter_(context.emitter),
        graph_(context.graph),
        kernel_(kernel),
        op_(context.graph.op(kernel.ops.front())),
        shape_(graph_.tensor(kernel.output).shape) {}

  void run() {
    if (op_.kind == "ConvWeightGradient") return weight_gradient();
    if (op_.kind == "Gradient" && !is_image(graph_, kernel_.output)) return channel_sums();
    if (!is_image(graph_, kernel_.output) || op_.kind == "Reshape" || op_.kind == "Transpose" ||
        op_.kind == "Split" || op_.kind == "Slice" || op_.kind == "Concat")
      return relay();
    for (const TensorId input : op_.inputs) {
      if (graph_.tensor(input).kind != TensorKind::kWeight)
        operands_.push_back(&require_image(context_, input));
    }
    emitter_.attribute_to(graph_, kernel_.ops.front());
    output_ = &declare_image(context_, kernel_.output);
    if (op_.kind == "MaxPool" || op_.kind == "AveragePool") return pool();
    if (op_.kind == "GlobalAveragePool" || op_.kind == "GlobalMaxPool") return global_pool();
    if (op_.kind == "GroupNorm") return group_norm();
    passes();
  }

 private:
  // The same elements, as the readers see them: nothing moves. Parts of channels join where they
  // have been written.
  void relay() {
    Deps ready;
    for (const TensorId input : op_.inputs) {
      const Value& value = is_image(graph_, input)
                               ? require_image(context_, input)
                               : require_feature_major(context_, resolve_view(graph_, input));
      for (const Deps& deps : value.feature_major) ready.merge(deps);
    }
    for (const TensorId id : op_.outputs) {
      Value& value = is_image(graph_, id) ? declare_image(context_, id) : emitter_.value(id);
      if (value.rows == 0) {
        value.rows = row_count(graph_.tensor(id).shape);
        value.columns = column_count(graph_.tensor(id).shape);
        value.feature_major.resize(static_cast<std::size_t>(value.blocks() * value.tiles()));
      }
      std::fill(value.feature_major.begin(), value.feature_major.end(), ready);
    }
  }

  // Contraction over the pixels, which the tensor engine turns onto the partitions first: both
  // operands once, then one accumulation group per position of the filter and block of channels.
  void weight_gradient() {
    const Value& x = require_image(context_, op_.inputs[0]);
    const Value& dy = require_image(context_, op_.inputs[1]);
    emitter_.attribute_to(graph_, kernel_.ops.front());
    const Shape& weight = graph_.tensor(kernel_.output).shape;
    const std::int64_t taps = element_count(weight) / weight[0] / weight[1];
    const bool depthwise = weight[1] == 1 && x.columns > 1;
    Deps done;
    if (depthwise) {
      for (std::int64_t block = 0; block < dy.blocks(); ++block)
        done.merge(reduce(dy.rows * taps, all_of(x, dy)));
    } else {
      done = contract_pixels(turned(x), turned(dy), dy.rows, weight[1], weight[0], taps);
    }
    set_parameters(done);
  }

  Deps all_of(const Value& a, const Value& b) const {
    Deps deps;
    for (const Value* value : {&a, &b}) {
      for (const Deps& each : value->feature_major) deps.merge(each);
    }
    return deps;
  }

  Deps turned(const Value& image) {
    const std::int64_t per_bank = emitter_.bank_columns() / emitter_.tile_rows();
    Deps done;
    for (std::int64_t block = 0; block < image.blocks(); ++block) {
      for (std::int64_t t = 0; t < image.tiles(); t += per_bank) {
        const std::int64_t count = std::min(per_bank, image.tiles() - t);
        const std::uint8_t bank = emitter_.acquire_bank();
        Deps group;
        for (std::int64_t i = 0; i < count; ++i) {
          const auto at = static_cast<std::size_t>(block * image.tiles() + t + i);
          group = emitter_.transpose(bank, emitter_.tile_rows(), emitter_.tile_rows(),
                                     image.feature_major[at]);
        }
        done.merge(emitter_.evict(bank, count * emitter_.tile_rows(), group));
      }
    }
    return done;
  }

  Deps contract_pixels(const Deps& x, const Deps& dy, std::int64_t pixels, std::int64_t inputs,
                       std::int64_t outputs, std::int64_t taps) {
    Deps ready = x;
    ready.merge(dy);
    Deps done;
    for (std::int64_t tap = 0; tap < taps; ++tap) {
      for (std::int64_t in = 0; in < inputs; in += emitter_.tile_rows()) {
        for (std::int64_t out = 0; out < outputs; out += emitter_.bank_columns()) {
          const std::int64_t columns = std::min(emitter_.bank_columns(), outputs - out);
          const std::uint8_t bank = emitter_.acquire_bank();
          Deps group;
          for (std::int64_t p = 0; p < pixels; p += emitter_.tile_rows()) {
            group = emitter_.matmul(bank,
                                    {std::min(emitter_.tile_rows(), pixels - p),
                                     std::min(emitter_.tile_rows(), inputs - in), columns},
                                    ready, p == 0, p + emitter_.tile_rows() >= pixels);
          }
          done.merge(emitter_.evict(bank, columns, group));
        }
      }
    }
    return done;
  }

  // Gradients of factors, offsets and biases: sums over the pixels of every channel.
  void channel_sums() {
    Deps ready;
    std::int64_t pixels = 1;
    std::int64_t blocks = 1;
    for (const TensorId input : op_.inputs) {
      if (!is_image(graph_, input)) continue;
      const Value& value = require_image(context_, input);
      for (const Deps& deps : value.feature_major) ready.merge(deps);
      pixels = std::max(pixels, value.rows);
      blocks = std::max(blocks, value.blocks());
    }
    emitter_.attribute_to(graph_, kernel_.ops.front());
    const auto passes = static_cast<std::int64_t>(op_.inputs.size());
    Deps done;
    for (std::int64_t block = 0; block < blocks; ++block)
      done.merge(reduce(pixels * passes, ready));
    set_parameters(done);
  }

  // One row per filter or one row of all channels.
  void set_parameters(const Deps& done) {
    const Shape& shape = graph_.tensor(kernel_.output).shape;
    Value& value = emitter_.value(kernel_.output);
    value.rows = shape.size() > 1 ? shape[0] : 1;
    value.columns = element_count(shape) / value.rows;
    value.token_major.assign(static_cast<std::size_t>(value.tiles()), done);
  }

  std::size_t tile_of(std::int64_t pixel) const {
    return static_cast<std::size_t>(pixel / emitter_.tile_rows());
  }

  // Waits for all operands: pixels `first` to `last` of block `block`; a smaller one is there as a
  // whole.
  Deps ready(std::int64_t block, std::int64_t first, std::int64_t last) const {
    Deps deps;
    for (const Value* operand : operands_) {
      const std::int64_t tiles = operand->tiles();
      const std::int64_t from = std::min<std::int64_t>(block, operand->blocks() - 1) * tiles;
      const auto begin = std::min<std::int64_t>(first / emitter_.tile_rows(), tiles - 1);
      const auto end = std::min<std::int64_t>(last / emitter_.tile_rows(), tiles - 1);
      for (std::int64_t t = begin; t <= end; ++t)
        deps.merge(operand->feature_major[static_cast<std::size_t>(from + t)]);
    }
    return deps;
  }

  void done(std::int64_t block, const PixelGroup& group, const Deps& deps) {
    const auto base = static_cast<std::size_t>(block * output_->tiles());
    for (std::size_t t = tile_of(group.first); t <= tile_of(group.first + group.count - 1); ++t)
      output_->feature_major[base + t].merge(deps);
  }

  // Every block of channels of every group of pixels.
  template <typename Lower>
  void for_each(const ImageShape& input, const ImageWindow& window, Lower lower) {
    const ImageShape output(shape_);
    for (const PixelGroup& group : pixel_groups(input, output, window, emitter_.pass_pixels())) {
      for (std::int64_t block = 0; block < output_->blocks(); ++block)
        done(block, group, lower(group, ready(block, group.first_input, group.last_input)));
    }
  }

  // The largest, or the sum, of every window, read with strides.
  void pool() {
    const auto& kernel = integers_of(op_, "kernel");
    const auto first_of = [this](const char* name, std::int64_t otherwise) {
      return integers_of(op_, name, {otherwise}).front();
    };
    const std::int64_t positions = element_count(kernel);
    const ImageWindow window{first_of("dilations", 1) * (kernel.front() - 1) + 1,
                             first_of("strides", 1), first_of("pads", 0)};
    for_each(ImageShape(graph_.tensor(op_.inputs.front()).shape), window,
             [&](const PixelGroup& group, const Deps& deps) {
               return reduce(group.count * positions, deps);
             });
  }

  Deps reduce(std::int64_t elements, const Deps& deps) {
    Deps last;
    for (std::int64_t first = 0; first < elements; first += emitter_.free_elements()) {
      const std::int64_t n = std::min(emitter_.free_elements(), elements - first);
      last = emitter_.lane(Engine::kVector,
                           {Opcode::kTensorReduce, n,
                            static_cast<std::uint16_t>(kReadsSbuf | kWritesSbuf | kAddOrMax)},
                           deps);
    }
    return last;
  }

  void global_pool() {
    const ImageShape input(graph_.tensor(op_.inputs.front()).shape);
    for (std::int64_t image = 0; image < input.images; ++image) {
      for (std::int64_t block = 0; block < output_->blocks(); ++block) {
        const std::int64_t first = image * input.pixels();
        done(block, {image, 1, 0, 0, 1},
             reduce(input.pixels(), ready(block, first, first + input.pixels() - 1)));
      }
    }
  }

  // Statistics of every channel, summed over the channels of a group by a product with ones, then
  // factor and offset in one pass.
  void group_norm() {
    const ImageShape image(shape_);
    for (std::int64_t n = 0; n < image.images; ++n) {
      const std::int64_t first = n * image.pixels();
      for (std::int64_t block = 0; block < output_->blocks(); ++block) {
        const Deps source = ready(block, first, first + image.pixels() - 1);
        const Deps stats = statistics(emitter_, image.pixels(), source);
        const std::uint8_t bank = emitter_.acquire_bank();
        const Deps sums = emitter_.matmul(bank, {emitter_.tile_rows(), emitter_.tile_rows(), 2},
                                          stats, true, true);
        Deps rstd = emitter_.evict(bank, 2, sums);
        rstd = emitter_.lane(Engine::kScalar, {Opcode::kRsqrt, 1}, rstd);
        for (std::int64_t p = 0; p < image.pixels(); p += emitter_.pass_pixels()) {
          const std::int64_t count = std::min(emitter_.pass_pixels(), image.pixels() - p);
          done(block, {first + p, count, 0, 0, 1},
               emitter_.lane(Engine::kVector, {Opcode::kTensorScalar, count}, rstd));
        }
      }
    }
  }

  // Functions on the Scalar engine; sums, products, copies and interpolation on Vector.
  void passes() {
    const bool two = operands_.size() > 1;
    const bool function = !two && (is_activation(op_.kind) || op_.kind == "Elementwise");
    const Engine engine = function ? Engine::kScalar : Engine::kVector;
    const Opcode opcode =
        function ? Opcode::kActivate : (two ? Opcode::kTensorTensor : Opcode::kTensorScalar);
    // A gradient multiplies and adds in one pass.
    const double per_element =
        graph_.flops(kernel_.ops.front()).value() / static_cast<double>(element_count(shape_));
    const std::int64_t count = op_.kind == "Gradient"
                                   ? std::max<std::int64_t>(1, std::llround(per_element / 2))
                               : op_.kind == "Resize" && text_of(op_, "mode") != "nearest" ? 3
                                                                                           : 1;
    const ImageShape input(graph_.tensor(op_.inputs.front()).shape);
    const ImageShape output(shape_);
    // A larger result reads proportionally fewer rows.
    const bool resized = input.pixels() != output.pixels();
    const auto lower = [&](const PixelGroup& group, Deps deps) {
      for (std::int64_t pass = 0; pass < count; ++pass)
        deps = emitter_.lane(engine, {opcode, group.count, kFromSbuf}, deps);
      return deps;
    };
    if (!resized) return for_each(input, {1, 1, 0}, lower);
    for (const PixelGroup& group :
         pixel_groups(output, output, {1, 1, 0}, emitter_.pass_pixels())) {
      for (std::int64_t block = 0; block < output_->blocks(); ++block) {
        const std::int64_t image = group.first / output.pixels();
        const std::int64_t last = (image + 1) * input.pixels() - 1;
        done(block, group, lower(group, ready(block, image * input.pixels(), last)));
      }
    }
  }

  LoweringContext& context_;
  Emitter& emitter_;
  const Graph& graph_;
  const Kernel& kernel_;
  const Op& op_;
  Shape shape_;
  std::vector<const Value*> operands_;
  Value* output_ = nullptr;
};

}  // namespace

Value& declare_image(LoweringContext& context, TensorId id) {
  const ImageShape shape(context.graph.tensor(id).shape);
  Value& value = context.emitter.value(id);
  value.rows = shape.all_pixels();
  value.columns = shape.channels;
  value.feature_major.resize(static_cast<std::size_t>(value.blocks() * value.tiles()));
  return value;
}

// An image that no operator computes arrives by DMA, one descriptor per channel and image.
Value& require_image(LoweringContext& context, TensorId id) {
  Emitter& emitter = context.emitter;
  if (!emitter.has_value(id)) {
    const Tensor& tensor = context.graph.tensor(id);
    const TensorId source = resolve_view(context.graph, id).tensor;
    const ImageShape shape(tensor.shape);
    const auto row_bytes = static_cast<std::int64_t>(static_cast<double>(shape.pixels()) *
                                                     size_of(tensor.dtype).value());
    Deps ready;
    if (source != id && emitter.has_value(source)) {
      for (const Deps& deps : require_feature_major(context, {source, 0, 0}).feature_major)
        ready.merge(deps);
    } else {
      ready = emitter.transfer(Ring::kInputs, TransferDirection::kLoad,
                               shape.images * shape.channels, row_bytes, {});
    }
    Value& value = declare_image(context, id);
    std::fill(value.feature_major.begin(), value.feature_major.end(), ready);
  }
  // Computed as rows (channels last, as between the layers of ConvNeXt): turned first.
  if (emitter.value(id).feature_major.empty()) require_feature_major(context, {id, 0, 0});
  context.residency.use(id, Layout::kFeatureMajor);
  return emitter.value(id);
}

void lower_image(LoweringContext& context, const Kernel& kernel) {
  ImageLowering(context, kernel).run();
}

void lower_image_output(LoweringContext& context, TensorId id) {
  const Value& value = require_image(context, id);
  const Tensor& tensor = context.graph.tensor(id);
  const ImageShape shape(tensor.shape);
  const auto row_bytes = static_cast<std::int64_t>(static_cast<double>(shape.pixels()) *
                                                   size_of(tensor.dtype).value());
  for (std::int64_t image = 0; image < shape.images; ++image) {
    Deps ready;
    for (std::int64_t block = 0; block < value.blocks(); ++block) {
      const std::int64_t last = (image + 1) * shape.pixels() - 1;
      ready.merge(value.features(block, last / context.emitter.tile_rows()));
    }
    context.emitter.transfer(Ring::kOutputs, TransferDirection::kStore, shape.channels, row_bytes,
                             ready);
  }
}

}  // namespace foretell
