#include "workloads/import/hf/vision/image_builder.hpp"

#include <utility>

namespace foretell {

using Integers = std::vector<std::int64_t>;

TensorId ImageBuilder::op(const std::string& name, std::string_view kind,
                          std::vector<TensorId> inputs,
                          std::map<std::string, Attribute> attributes) {
  return graph_.add_op(name, kind, std::move(inputs), std::move(attributes));
}

TensorId ImageBuilder::conv(const std::string& name, TensorId x, std::int64_t channels,
                            Window window, bool bias) {
  const std::int64_t pad = window.padded ? window.kernel / 2 : 0;
  std::vector<TensorId> inputs{
      x, graph_.add_weight(name + ".weight", {channels, shape(x)[1], window.kernel, window.kernel},
                           DType::kFp32)};
  if (bias) inputs.push_back(graph_.add_weight(name + ".bias", {channels}, DType::kFp32));
  return op(name, "Conv", std::move(inputs),
            {{"strides", Integers{window.stride, window.stride}}, {"pads", Integers(4, pad)}});
}

TensorId ImageBuilder::batch_norm(const std::string& name, TensorId x) {
  const Shape channels{shape(x)[1]};
  const TensorId scale = graph_.add_weight(name + ".weight", channels, DType::kFp32);
  const TensorId offset = graph_.add_weight(name + ".bias", channels, DType::kFp32);
  return op(name, "BatchNorm", {x, scale, offset});
}

TensorId ImageBuilder::conv_norm(const std::string& name, TensorId x, std::int64_t channels,
                                 Window window, const std::string& activation) {
  const TensorId y = batch_norm(name + ".norm", conv(name, x, channels, window, false));
  return activation.empty() ? y : activate(name + ".activation", y, activation);
}

TensorId ImageBuilder::activate(const std::string& name, TensorId x, const std::string& function) {
  if (function == "Relu" || function == "Silu") return op(name, function, {x});
  return op(name, "Elementwise", {x}, {{"function", function}});
}

TensorId ImageBuilder::max_pool(const std::string& name, TensorId x, std::int64_t kernel,
                                std::int64_t stride, std::int64_t pad) {
  return op(name, "MaxPool", {x},
            {{"kernel", Integers{kernel, kernel}},
             {"strides", Integers{stride, stride}},
             {"pads", Integers(4, pad)}});
}

TensorId ImageBuilder::concat(const std::string& name, std::vector<TensorId> parts) {
  return op(name, "Concat", std::move(parts), {{"axis", std::int64_t{1}}});
}

TensorId ImageBuilder::upsample(const std::string& name, TensorId x) {
  return op(
      name, "Resize", {x},
      {{"sizes", Integers{2 * shape(x)[2], 2 * shape(x)[3]}}, {"mode", std::string("nearest")}});
}

TensorId ImageBuilder::flatten(const std::string& name, TensorId x) {
  return op(name, "Reshape", {x}, {{"shape", Integers{shape(x)[0], -1}}});
}

TensorId ImageBuilder::linear(const std::string& name, TensorId x, std::int64_t out) {
  const TensorId weight = graph_.add_weight(name + ".weight", {shape(x).back(), out}, DType::kFp32);
  const TensorId bias = graph_.add_weight(name + ".bias", {out}, DType::kFp32);
  return op(name + ".bias", "Add", {op(name, "MatMul", {x, weight}), bias});
}

}  // namespace foretell
