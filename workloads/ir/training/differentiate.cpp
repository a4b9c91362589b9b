// The derivative of every operator, one function per family.
#include <algorithm>
#include <map>
#include <string>

#include "model/base/errors.hpp"
#include "workloads/ir/attributes.hpp"
#include "workloads/ir/training/gradient_builder.hpp"

namespace foretell {
namespace {

using Rule = void (*)(GradientBuilder&, const Op&, TensorId);

// All axes but the last as rows.
TensorId as_rows(GradientBuilder& builder, std::string_view part, TensorId x) {
  const Shape& shape = builder.shape(x);
  return builder.reshape(part, x, {element_count(shape) / shape.back(), shape.back()});
}

// c = a b, or a b^T: the gradient of a is dc b^T, that of b is a^T dc (or dc^T a).
void matmul(GradientBuilder& builder, const Op& op, TensorId dc) {
  const TensorId a = op.inputs[0];
  const TensorId b = op.inputs[1];
  const bool transposed = integer_of(op, "transpose_b", 0) != 0;
  if (builder.is_wanted(a)) {
    std::map<std::string, Attribute> attributes;
    if (!transposed) attributes["transpose_b"] = std::int64_t{1};
    builder.give(a, builder.add("input", "MatMul", {dc, b}, attributes, a));
  }
  if (!builder.is_wanted(b)) return;
  // A weight that all sequences share: their tokens are rows of one product.
  const bool shared = builder.shape(b).size() == 2 && builder.shape(a).size() > 2;
  const TensorId rows = shared ? as_rows(builder, "rows", a) : a;
  const TensorId columns = shared ? as_rows(builder, "gradient.rows", dc) : dc;
  const TensorId left = builder.transpose("left", transposed ? columns : rows);
  builder.give(b, builder.add("weight", "MatMul", {left, transposed ? rows : columns}, {}, b));
}

std::map<std::string, Attribute> window_attributes(const Op& op) {
  std::map<std::string, Attribute> attributes;
  for (const char* name : {"strides", "pads", "dilations", "group"}) {
    const auto found = op.attributes.find(name);
    if (found != op.attributes.end()) attributes[name] = found->second;
  }
  return attributes;
}

void bias_of_channels(GradientBuilder& builder, const Op& op, std::size_t input, TensorId dy) {
  if (op.inputs.size() <= input || !builder.is_wanted(op.inputs[input])) return;
  builder.give(op.inputs[input], builder.derive("bias", "Parameters", {dy}, op.inputs[input]));
}

// The rows that a stride leaves out at the end of the input come back as output padding.
std::vector<std::int64_t> left_out(const Op& op, const Shape& x, const Shape& weight,
                                   const Shape& y) {
  const std::size_t axes = x.size() - 2;
  const auto strides = integers_of(op, "strides", Shape(axes, 1));
  const auto dilations = integers_of(op, "dilations", Shape(axes, 1));
  const auto pads = integers_of(op, "pads", Shape(2 * axes, 0));
  std::vector<std::int64_t> extra;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t extent = dilations[axis] * (weight[axis + 2] - 1) + 1;
    const std::int64_t reached = strides[axis] * (y[axis + 2] - 1) + extent;
    extra.push_back(
        std::max<std::int64_t>(0, x[axis + 2] + pads[axis] + pads[axis + axes] - reached));
  }
  return extra;
}

void convolution(GradientBuilder& builder, const Op& op, TensorId dy) {
  const TensorId x = op.inputs[0];
  const TensorId weight = op.inputs[1];
  if (builder.is_wanted(x)) {
    std::map<std::string, Attribute> attributes = window_attributes(op);
    attributes["output_padding"] =
        left_out(op, builder.shape(x), builder.shape(weight), builder.shape(dy));
    builder.give(x, builder.add("input", "ConvTranspose", {dy, weight}, attributes, x));
  }
  std::map<std::string, Attribute> attributes = window_attributes(op);
  attributes["shape"] = builder.shape(weight);
  if (builder.is_wanted(weight)) {
    builder.give(weight, builder.add("weight", "ConvWeightGradient", {x, dy}, attributes, weight));
  }
  bias_of_channels(builder, op, 2, dy);
}

void transposed_convolution(GradientBuilder& builder, const Op& op, TensorId dy) {
  const TensorId x = op.inputs[0];
  const TensorId weight = op.inputs[1];
  std::map<std::string, Attribute> attributes = window_attributes(op);
  if (builder.is_wanted(x)) {
    const TensorId dx = builder.add("input", "Conv", {dy, weight}, attributes, x);
    builder.give(x, dx);
  }
  attributes["shape"] = builder.shape(weight);
  if (builder.is_wanted(weight)) {
    builder.give(weight, builder.add("weight", "ConvWeightGradient", {dy, x}, attributes, weight));
  }
  bias_of_channels(builder, op, 2, dy);
}

void identity(GradientBuilder& builder, const Op& op, TensorId dy) {
  builder.give(op.inputs[0], dy);
}

void sum(GradientBuilder& builder, const Op& op, TensorId dy) {
  for (const TensorId input : op.inputs) builder.give(input, dy);
}

void difference(GradientBuilder& builder, const Op& op, TensorId dy) {
  builder.give(op.inputs[0], dy);
  if (op.inputs.size() < 2 || !builder.is_wanted(op.inputs[1])) return;
  builder.give(op.inputs[1],
               builder.add("negative", "Mul", {dy}, {{"scalar", -1.0}}, op.inputs[1]));
}

void product(GradientBuilder& builder, const Op& op, TensorId dy) {
  if (op.inputs.size() == 1) {
    return builder.give(op.inputs[0], builder.add("", op.kind, {dy}, op.attributes, op.inputs[0]));
  }
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    if (!builder.is_wanted(op.inputs[i])) continue;
    builder.give(op.inputs[i], builder.add("", "Mul", {dy, op.inputs[1 - i]}, {}, op.inputs[i]));
  }
}

void quotient(GradientBuilder& builder, const Op& op, TensorId dy) {
  if (op.inputs.size() == 1) return product(builder, op, dy);
  if (builder.is_wanted(op.inputs[0]))
    builder.give(op.inputs[0], builder.add("", "Div", {dy, op.inputs[1]}, {}, op.inputs[0]));
  if (!builder.is_wanted(op.inputs[1])) return;
  const TensorId y = op.outputs.front();
  builder.give(op.inputs[1], builder.derive("divisor", "Div", {dy, y, op.inputs[1]}, y));
}

// Functions whose derivative follows from their result (tanh, sigmoid) or from their argument.
void of_result(GradientBuilder& builder, const Op& op, TensorId dy) {
  builder.give(op.inputs[0], builder.derive("", op.kind, {dy, op.outputs.front()}, op.inputs[0]));
}

void of_argument(GradientBuilder& builder, const Op& op, TensorId dy) {
  builder.give(op.inputs[0], builder.derive("", op.kind, {dy, op.inputs[0]}, op.inputs[0]));
}

// Every argument of a function of several gets a pass of its own.
void of_all_arguments(GradientBuilder& builder, const Op& op, TensorId dy) {
  for (const TensorId input : op.inputs) {
    if (!builder.is_wanted(input)) continue;
    const TensorId like = builder.shape(input) == builder.shape(dy) ? input : dy;
    builder.give(input, builder.derive("", op.kind, {dy, input}, like));
  }
}

// The gradient of the rows, and in a pass of its own those of factors and offsets.
void norm(GradientBuilder& builder, const Op& op, TensorId dy) {
  const bool of_channels = op.kind == "BatchNorm" || op.kind == "GroupNorm";
  const TensorId x = op.inputs[0];
  if (builder.is_wanted(x)) {
    builder.give(x, builder.derive("input", of_channels ? "ChannelNorm" : op.kind,
                                   {dy, x, op.inputs[1]}, x));
  }
  // A mean and a variance that a batch norm has beside them are measured, not trained.
  for (std::size_t i = 1; i < std::min<std::size_t>(3, op.inputs.size()); ++i) {
    if (!builder.is_wanted(op.inputs[i])) continue;
    const bool reads_x = i == 1;
    builder.give(op.inputs[i],
                 builder.derive(reads_x ? "factor" : "offset", "Parameters",
                                reads_x ? std::vector<TensorId>{dy, x} : std::vector<TensorId>{dy},
                                op.inputs[i]));
  }
}

void pooling(GradientBuilder& builder, const Op& op, TensorId dy) {
  const bool looks_for_largest = op.kind == "MaxPool" || op.kind == "GlobalMaxPool";
  std::vector<TensorId> inputs = {dy};
  if (looks_for_largest) inputs.push_back(op.inputs[0]);
  builder.give(op.inputs[0], builder.derive("", "Pool", inputs, op.inputs[0]));
}

// Rows of a table that were read several times add up.
void gather(GradientBuilder& builder, const Op& op, TensorId dy) {
  builder.give(op.inputs[0], builder.derive("", "Gather", {dy, op.inputs[1]}, op.inputs[0]));
}

// Elements go back to where they came from.
void move(GradientBuilder& builder, const Op& op, TensorId dy) {
  for (const TensorId input : op.inputs) {
    if (builder.is_wanted(input)) builder.give(input, builder.derive("", "Move", {dy}, input));
  }
}

void reduction(GradientBuilder& builder, const Op& op, TensorId dy) {
  const bool reads_x = op.kind == "ReduceMax" || op.kind == "Reduce";
  std::vector<TensorId> inputs = {dy};
  if (reads_x) inputs.push_back(op.inputs[0]);
  builder.give(op.inputs[0], builder.derive("", "Reduce", inputs, op.inputs[0]));
}

void resize(GradientBuilder& builder, const Op& op, TensorId dy) {
  builder.give(op.inputs[0], builder.derive("", "Resize", {dy}, op.inputs[0]));
}

void reshape(GradientBuilder& builder, const Op& op, TensorId dy) {
  builder.give(op.inputs[0], builder.reshape("", dy, builder.shape(op.inputs[0])));
}

void transpose(GradientBuilder& builder, const Op& op, TensorId dy) {
  const auto& perm = integers_of(op, "perm");
  std::vector<std::int64_t> back(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i)
    back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  builder.give(op.inputs[0],
               builder.add("", "Transpose", {dy}, {{"perm", std::move(back)}}, op.inputs[0]));
}

std::size_t axis_of(GradientBuilder& builder, const Op& op) {
  const std::int64_t axis = integer_of(op, "axis", 0);
  const auto rank = static_cast<std::int64_t>(builder.shape(op.inputs[0]).size());
  return static_cast<std::size_t>(axis < 0 ? axis + rank : axis);
}

void slice(GradientBuilder& builder, const Op& op, TensorId dy) {
  const Shape& x = builder.shape(op.inputs[0]);
  const std::size_t axis = axis_of(builder, op);
  std::vector<std::int64_t> pads(2 * x.size(), 0);
  pads[axis] = integer_of(op, "begin", 0);
  pads[axis + x.size()] = x[axis] - integer_of(op, "end", 0);
  builder.give(op.inputs[0],
               builder.add("", "Pad", {dy}, {{"pads", std::move(pads)}}, op.inputs[0]));
}

void concat(GradientBuilder& builder, const Op& op, TensorId dy) {
  const std::size_t axis = axis_of(builder, op);
  std::vector<std::int64_t> sizes;
  for (const TensorId input : op.inputs) sizes.push_back(builder.shape(input)[axis]);
  builder.add("", "Split", {dy},
              {{"axis", static_cast<std::int64_t>(axis)}, {"sizes", std::move(sizes)}}, dy);
  const std::vector<TensorId> parts = builder.graph().ops().back().outputs;
  for (std::size_t i = 0; i < op.inputs.size(); ++i) builder.give(op.inputs[i], parts[i]);
}

// A rotation is undone by the rotation the other way, which costs the same.
void rotation(GradientBuilder& builder, const Op& op, TensorId dy) {
  builder.give(op.inputs[0],
               builder.add("", "Rope", {dy, op.inputs[1]}, op.attributes, op.inputs[0]));
}

const std::map<std::string_view, Rule>& rules() {
  static const std::map<std::string_view, Rule> kRules = {
      {"MatMul", matmul},
      {"Conv", convolution},
      {"ConvTranspose", transposed_convolution},
      {"Add", sum},
      {"Sub", difference},
      {"Mul", product},
      {"Div", quotient},
      {"CausalMask", identity},
      {"Alibi", identity},
      {"Rope", rotation},
      {"Softmax", of_result},
      {"Tanh", of_result},
      {"Sigmoid", of_result},
      {"Exp", of_result},
      {"Sqrt", of_result},
      {"Relu", of_result},
      {"Gelu", of_argument},
      {"Silu", of_argument},
      {"Erf", of_argument},
      {"AlongAxis", of_argument},
      {"Elementwise", of_all_arguments},
      {"LayerNorm", norm},
      {"RmsNorm", norm},
      {"BatchNorm", norm},
      {"GroupNorm", norm},
      {"MaxPool", pooling},
      {"AveragePool", pooling},
      {"GlobalAveragePool", pooling},
      {"GlobalMaxPool", pooling},
      {"Resize", resize},
      {"Gather", gather},
      {"Move", move},
      {"Pad", move},
      {"Reduce", reduction},
      {"ReduceSum", reduction},
      {"ReduceMean", reduction},
      {"ReduceMax", reduction},
      {"Reshape", reshape},
      {"Transpose", transpose},
      {"Slice", slice},
      {"Concat", concat},
  };
  return kRules;
}

// Pieces that are not read have no gradient: it is zero there.
void split(GradientBuilder& builder, const Op& op) {
  std::vector<TensorId> parts;
  for (const TensorId output : op.outputs) {
    if (builder.has(output)) parts.push_back(builder.gradient(output));
  }
  if (parts.size() < op.outputs.size()) {
    return builder.give(op.inputs[0], builder.derive("", "Move", parts, op.inputs[0]));
  }
  if (parts.size() == 1) return builder.give(op.inputs[0], parts.front());
  const auto axis = op.attributes.at("axis");
  builder.give(op.inputs[0], builder.add("", "Concat", parts, {{"axis", axis}}, op.inputs[0]));
}

}  // namespace

void differentiate(GradientBuilder& builder, const Op& op) {
  builder.enter(op);
  if (op.kind == "Split") return split(builder, op);
  const auto rule = rules().find(op.kind);
  if (rule == rules().end()) {
    throw UserError(
        "operator '" + op.name + "' (" + op.kind +
        ") has no derivative here, so the network cannot be trained; to add one: a rule "
        "in workloads/ir/training/differentiate.cpp");
  }
  rule->second(builder, op, builder.gradient(op.outputs.front()));
}

}  // namespace foretell
