#include "workloads/ir/training/gradient_builder.hpp"

#include <algorithm>
#include <numeric>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

bool is_floating(DType type) {
  return type != DType::kInt32 && type != DType::kInt64 && type != DType::kBool;
}

std::vector<bool> influenced_by_weights(const Graph& graph) {
  std::vector<bool> wanted(graph.tensors().size(), false);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const Tensor& tensor = graph.tensors()[i];
    wanted[i] = tensor.kind == TensorKind::kWeight && is_floating(tensor.dtype);
  }
  for (const Op& op : graph.ops()) {
    const bool any = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId input) {
      return wanted[static_cast<std::size_t>(input)];
    });
    for (const TensorId output : op.outputs)
      wanted[static_cast<std::size_t>(output)] = any && is_floating(graph.tensor(output).dtype);
  }
  return wanted;
}

}  // namespace

GradientBuilder::GradientBuilder(Graph& graph)
    : graph_(graph), wanted_(influenced_by_weights(graph)) {
  for (const Op& op : graph.ops()) layers_ = std::max(layers_, op.layer + 1);
}

void GradientBuilder::enter(const Op& op) {
  scope_ = op.name;
  layer_ = op.layer == kNoId ? kNoId : 2 * layers_ - 1 - op.layer;
}

std::string GradientBuilder::name(std::string_view part) const {
  return scope_ + ".backward" + (part.empty() ? "" : "." + std::string(part));
}

TensorId GradientBuilder::add(std::string_view part, std::string_view kind,
                              std::vector<TensorId> inputs,
                              std::map<std::string, Attribute> attributes, TensorId like) {
  std::string unique = name(part);
  const int taken = parts_[unique]++;
  if (taken > 0) unique += "." + std::to_string(taken + 1);
  const DType type = graph_.tensor(like).dtype;
  const TensorId result =
      graph_.add_op(std::move(unique), kind, std::move(inputs), std::move(attributes), layer_);
  const std::vector<TensorId> outputs = graph_.ops().back().outputs;
  for (const TensorId output : outputs) graph_.set_dtype(output, type);
  return result;
}

TensorId GradientBuilder::derive(std::string_view part, std::string_view of,
                                 std::vector<TensorId> inputs, TensorId like) {
  return add(part, "Gradient", std::move(inputs), {{"of", std::string(of)}, {"shape", shape(like)}},
             like);
}

TensorId GradientBuilder::reshape(std::string_view part, TensorId x, const Shape& shape) {
  if (this->shape(x) == shape) return x;
  return add(part, "Reshape", {x}, {{"shape", shape}}, x);
}

TensorId GradientBuilder::transpose(std::string_view part, TensorId x) {
  std::vector<std::int64_t> perm(shape(x).size());
  std::iota(perm.begin(), perm.end(), std::int64_t{0});
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return add(part, "Transpose", {x}, {{"perm", std::move(perm)}}, x);
}

// Axes of size 1, and those in front that `like` does not have, were repeated: their gradients add
// up.
TensorId GradientBuilder::sum_to(TensorId gradient, TensorId like) {
  const Shape from = shape(gradient);
  const Shape to = shape(like);
  if (from == to) return gradient;
  FORETELL_CHECK(from.size() >= to.size(), "a gradient has the axes of its result");
  const std::size_t front = from.size() - to.size();
  std::vector<std::int64_t> axes;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    const bool repeated = axis < front || (to[axis - front] == 1 && from[axis] != 1);
    if (repeated) axes.push_back(static_cast<std::int64_t>(axis));
  }
  TensorId sum = gradient;
  if (!axes.empty()) {
    sum = add("sum", "Reduce", {gradient},
              {{"function", std::string("Sum")}, {"axes", axes}, {"keep_dims", std::int64_t{0}}},
              like);
  }
  return reshape("sum.shape", sum, to);
}

void GradientBuilder::give(TensorId id, TensorId gradient) {
  if (!is_wanted(id)) return;
  const TensorId fitting = sum_to(gradient, id);
  const auto [found, is_first] = gradients_.emplace(id, fitting);
  if (!is_first) found->second = add("accumulate", "Add", {found->second, fitting}, {}, id);
}

}  // namespace foretell
