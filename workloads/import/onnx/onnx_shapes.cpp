#include "workloads/import/onnx/onnx_shapes.hpp"

#include <fmt/format.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

// One letter per axis; an ellipsis is left to the declared shape.
std::optional<Shape> einsum_shape(const OnnxNode& node, const OnnxGraph& graph) {
  std::string equation = node.text("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  if (equation.find('.') != std::string::npos) return std::nullopt;
  const std::size_t arrow = equation.find("->");
  const std::vector<std::string> terms = foretell::split(equation.substr(0, arrow), ',');
  if (terms.size() != node.inputs.size())
    throw UserError(fmt::format("equation '{}' needs {} inputs", equation, terms.size()));
  std::map<char, std::int64_t> sizes;
  std::map<char, int> uses;
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (!node.has_input(i)) throw UserError(fmt::format("has no input {}", i));
    const Shape& shape = graph.tensor(node.inputs[i]).shape;
    if (terms[i].size() != shape.size()) {
      throw UserError(
          fmt::format("equation '{}': '{}' has {} axes", equation, node.inputs[i], shape.size()));
    }
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      std::int64_t& size = sizes[terms[i][axis]];
      if (size > 1 && shape[axis] > 1 && size != shape[axis]) {
        throw UserError(fmt::format("equation '{}': axis '{}' is {} and {}", equation,
                                    terms[i][axis], size, shape[axis]));
      }
      size = std::max(size, shape[axis]);
      ++uses[terms[i][axis]];
    }
  }
  std::string result;
  if (arrow != std::string::npos) {
    result = equation.substr(arrow + 2);
  } else {
    for (const auto& [letter, times] : uses) {
      if (times == 1) result += letter;
    }
  }
  Shape shape;
  for (const char letter : result) {
    if (sizes.count(letter) == 0)
      throw UserError(fmt::format("equation '{}': no input has axis '{}'", equation, letter));
    shape.push_back(sizes.at(letter));
  }
  return shape;
}

// The depth is often a constant of the file.
std::optional<Shape> one_hot_shape(const OnnxNode& node, const OnnxGraph& graph) {
  if (!node.has_input(0) || !node.has_input(1)) return std::nullopt;
  const std::optional<OnnxConstant>& depth = graph.tensor(node.inputs[1]).constant;
  if (!depth || depth->values.size() != 1) return std::nullopt;
  Shape shape = graph.tensor(node.inputs[0]).shape;
  const auto rank = static_cast<std::int64_t>(shape.size()) + 1;
  const std::int64_t axis = node.integer("axis", -1);
  if (axis < -rank || axis >= rank)
    throw UserError(fmt::format("axis {} is none of {}", axis, rank));
  shape.insert(shape.begin() + (axis < 0 ? axis + rank : axis),
               static_cast<std::int64_t>(depth->values.front()));
  return shape;
}

}  // namespace

std::optional<Shape> own_shape(const OnnxNode& node, const OnnxGraph& graph) {
  static const std::set<std::string> kLikeFirst = {
      "FastGelu", "Gelu",      "GroupNormalization",
      "Mish",     "QuickGelu", "SimplifiedLayerNormalization"};
  if (node.type == "Einsum") return einsum_shape(node, graph);
  if (node.type == "OneHot") return one_hot_shape(node, graph);
  if (kLikeFirst.count(node.type) > 0 && node.has_input(0))
    return graph.tensor(node.inputs[0]).shape;
  return std::nullopt;
}

Shape merged_shape(const std::string& name, const onnx::TypeProto& inferred,
                   const onnx::TypeProto* declared) {
  const bool has_inferred = inferred.has_tensor_type() && inferred.tensor_type().has_shape();
  const bool has_declared =
      declared != nullptr && declared->has_tensor_type() && declared->tensor_type().has_shape();
  const std::string unknown = "the shape of its result '" + name +
                              "' depends on data or on a rule that is not known: no mapping";
  if (!has_inferred && !has_declared) throw UserError(unknown);
  const onnx::TensorShapeProto& first =
      has_inferred ? inferred.tensor_type().shape() : declared->tensor_type().shape();
  Shape shape;
  for (int axis = 0; axis < first.dim_size(); ++axis) {
    const onnx::TensorShapeProto::Dimension* other = nullptr;
    if (has_inferred && has_declared &&
        declared->tensor_type().shape().dim_size() == first.dim_size())
      other = &declared->tensor_type().shape().dim(axis);
    const bool known = first.dim(axis).has_dim_value();
    const bool other_known = other != nullptr && other->has_dim_value();
    if (known && other_known && first.dim(axis).dim_value() != other->dim_value()) {
      throw UserError(
          fmt::format("axis {} of '{}' is {} by its inputs, but {} as the file declares it", axis,
                      name, first.dim(axis).dim_value(), other->dim_value()));
    }
    if (!known && !other_known) throw UserError(unknown);
    shape.push_back(known ? first.dim(axis).dim_value() : other->dim_value());
    if (shape.back() < 0)
      throw UserError("its result '" + name + "' has shape " + to_string(shape));
  }
  return shape;
}

}  // namespace foretell
