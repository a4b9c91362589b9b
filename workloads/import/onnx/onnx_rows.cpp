// Softmax, norms, reductions and other operators that see a whole axis at once.
#include <numeric>
#include <utility>

#include "workloads/import/onnx/onnx_translator.hpp"

namespace foretell {
namespace {

using Integers = std::vector<std::int64_t>;

constexpr std::int64_t kSoftmaxOfOneAxis = 13;  // opset; before, all axes from this one on

// Softmax and its kin, before opset 13 of all axes from `axis` on.
void softmax(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  const Shape shape = to.shape(x);
  const bool flattens = to.source().opset < kSoftmaxOfOneAxis;
  const std::int64_t axis = to.axis(node, node.integer("axis", flattens ? 1 : -1), shape.size());
  const auto last = static_cast<std::int64_t>(shape.size()) - 1;
  TensorId y = x;
  Shape flat = shape;
  if (flattens && axis != last) {
    flat = {1, 1};
    for (std::size_t i = 0; i < shape.size(); ++i)
      flat[static_cast<std::int64_t>(i) < axis ? 0 : 1] *= shape[i];
    y = to.reshape(node, y, flat, "flat");
  }
  const std::int64_t along = flat.size() == shape.size() ? axis : 1;
  if (node.type == "Softmax") {
    y = to.add(node, "Softmax", {y}, {{"axis", along}});
  } else {
    y = to.add(node, "AlongAxis", {y}, {{"function", node.type}, {"axes", Integers{along}}});
  }
  to.set(node.outputs.at(0), to.reshape(node, y, shape, "back"));
}

// Axes that are an input without known values, where the file declares the shape of the result:
// those along which it is smaller.
Integers axes_between(const OnnxTranslator& to, const OnnxNode& node) {
  const Shape& before = to.tensor(node.inputs.at(0)).shape;
  const Shape& after = to.tensor(node.outputs.at(0)).shape;
  Integers axes;
  std::size_t kept = 0;
  for (std::size_t axis = 0; axis < before.size(); ++axis) {
    const bool same = kept < after.size() && after[kept] == before[axis];
    if (!same) axes.push_back(static_cast<std::int64_t>(axis));
    if (same || before.size() == after.size()) ++kept;
  }
  return axes;
}

void reduce(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  const std::size_t rank = to.shape(x).size();
  const bool known = !node.has_input(1) || to.tensor(node.inputs[1]).constant.has_value();
  Integers axes = known ? to.integers(node, "axes", 1, {}) : axes_between(to, node);
  if (axes.empty()) {
    if (node.integer("noop_with_empty_axes", 0) != 0) return to.set(node.outputs.at(0), x);
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
  }
  for (std::int64_t& axis : axes) axis = to.axis(node, axis, rank);
  if (rank == 0) return to.set(node.outputs.at(0), x);
  const std::int64_t keep = node.integer("keepdims", 1);
  const std::string function = node.type.substr(std::string("Reduce").size());
  const bool simple = function == "Sum" || function == "Mean" || function == "Max";
  if (simple && axes.size() == 1)
    return to.give(node, node.type, {x}, {{"axis", axes[0]}, {"keep_dims", keep}});
  to.give(node, "Reduce", {x}, {{"function", function}, {"axes", axes}, {"keep_dims", keep}});
}

void arg(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  const std::int64_t axis = to.axis(node, node.integer("axis", 0), to.shape(x).size());
  to.give(node, "Reduce", {x},
          {{"function", node.type},
           {"axes", Integers{axis}},
           {"keep_dims", node.integer("keepdims", 1)}});
}

// Normalises the axes from `axis` on.
void layer_norm(OnnxTranslator& to, const OnnxNode& node) {
  TensorId x = to.id(node.inputs.at(0));
  const Shape shape = to.shape(x);
  const auto axis = static_cast<std::size_t>(to.axis(node, node.integer("axis", -1), shape.size()));
  Shape flat(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis));
  flat.push_back(
      element_count(Shape(shape.begin() + static_cast<std::ptrdiff_t>(axis), shape.end())));
  x = to.reshape(node, x, flat, "flat");
  const auto parameter = [&](std::size_t input, const char* part) {
    if (!node.has_input(input)) return to.weight(node.name + "." + part, {flat.back()});
    return to.reshape(node, to.id(node.inputs[input]), {flat.back()}, part);
  };
  const TensorId y =
      node.type == "LayerNormalization"
          ? to.add(node, "LayerNorm", {x, parameter(1, "scale"), parameter(2, "offset")})
          : to.add(node, "RmsNorm", {x, parameter(1, "scale")});
  to.set(node.outputs.at(0), to.reshape(node, y, shape, "back"));
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {  // mean and deviation
    if (node.outputs[i].empty()) continue;
    to.set(node.outputs[i],
           to.add(node, "Move", {y},
                  {{"function", std::string("Copy")}, {"shape", to.tensor(node.outputs[i]).shape}},
                  std::to_string(i)));
  }
}

// Mean and variance are known, unless the network is in training.
void batch_norm(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  const TensorId scale = to.id(node.inputs.at(1));
  const TensorId offset = to.id(node.inputs.at(2));
  if (node.integer("training_mode", 0) == 0) return to.give(node, "BatchNorm", {x, scale, offset});
  to.give(node, "GroupNorm", {x, scale, offset}, {{"groups", std::int64_t{1}}});
  for (std::size_t i = 1; i < node.outputs.size(); ++i) {
    if (node.outputs[i].empty()) continue;
    Integers axes(to.shape(x).size());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    axes.erase(axes.begin() + 1);
    to.set(node.outputs[i], to.add(node, "Reduce", {x},
                                   {{"function", std::string(i == 1 ? "Mean" : "SumSquare")},
                                    {"axes", axes},
                                    {"keep_dims", std::int64_t{0}}},
                                   std::to_string(i)));
  }
}

void instance_norm(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  const std::int64_t groups =
      node.type == "GroupNormalization" ? node.integer("num_groups", 1) : to.shape(x).at(1);
  TensorId scale = to.id(node.inputs.at(1));
  TensorId offset = to.id(node.inputs.at(2));
  const Shape channels{to.shape(x).at(1)};
  const bool per_channel = element_count(to.shape(scale)) == channels[0];
  if (per_channel) {
    scale = to.reshape(node, scale, channels, "scale");
    offset = to.reshape(node, offset, channels, "offset");
  } else {  // one per group, until opset 20
    const auto widen = [&](TensorId parameter, const char* part) {
      return to.add(node, "Move", {parameter},
                    {{"function", std::string("Expand")}, {"shape", channels}}, part);
    };
    scale = widen(scale, "scale");
    offset = widen(offset, "offset");
  }
  to.give(node, "GroupNorm", {x, scale, offset}, {{"groups", groups}});
}

void along(OnnxTranslator& to, const OnnxNode& node, const char* function, Integers axes) {
  const TensorId x = to.id(node.inputs.at(0));
  for (std::int64_t& axis : axes) axis = to.axis(node, axis, to.shape(x).size());
  to.give(node, "AlongAxis", {x}, {{"function", std::string(function)}, {"axes", axes}});
}

void top_k(OnnxTranslator& to, const OnnxNode& node) {
  TensorId x = to.id(node.inputs.at(0));
  const Shape shape = to.shape(x);
  const std::int64_t axis = to.axis(node, node.integer("axis", -1), shape.size());
  const std::int64_t k = to.tensor(node.outputs.at(0)).shape.at(static_cast<std::size_t>(axis));
  Integers perm(shape.size());
  std::iota(perm.begin(), perm.end(), std::int64_t{0});
  if (perm.empty()) to.fail(node, "of a single number");
  std::swap(perm[static_cast<std::size_t>(axis)], perm.back());
  x = to.transpose(node, x, perm, "order");
  const TensorId values = to.add(node, "TopK", {x}, {{"k", k}});
  to.set(node.outputs[0], to.transpose(node, values, perm, "values"));
  if (node.outputs.size() > 1 && !node.outputs[1].empty())
    to.set(node.outputs[1], to.transpose(node, values + 1, perm, "indices"));
}

// -log of the probability of the right class, then the mean or sum over all.
void loss(OnnxTranslator& to, const OnnxNode& node) {
  TensorId x = to.id(node.inputs.at(0));
  const TensorId labels = to.id(node.inputs.at(1));
  if (node.type == "SoftmaxCrossEntropyLoss") {
    x = to.add(node, "AlongAxis", {x},
               {{"function", std::string("LogSoftmax")}, {"axes", Integers{1}}}, "log_softmax");
    if (node.outputs.size() > 1 && !node.outputs[1].empty()) to.set(node.outputs[1], x);
  }
  std::vector<TensorId> operands{x, labels};
  if (node.has_input(2)) operands.push_back(to.id(node.inputs[2]));
  TensorId y =
      to.add(node, "Move", operands,
             {{"function", std::string("GatherElements")}, {"shape", to.shape(labels)}}, "pick");
  const std::string reduction = node.text("reduction", "mean");
  if (reduction != "none" && !to.shape(y).empty()) {
    Integers axes(to.shape(y).size());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
    y = to.add(node, "Reduce", {y},
               {{"function", std::string(reduction == "mean" ? "Mean" : "Sum")},
                {"axes", axes},
                {"keep_dims", std::int64_t{0}}},
               reduction);
  }
  to.set(node.outputs.at(0), y);
}

}  // namespace

void add_row_rules(OnnxRules& rules) {
  for (const char* name : {"Softmax", "LogSoftmax", "Hardmax"}) rules[name] = softmax;
  for (const char* name :
       {"ReduceSum", "ReduceMean", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"})
    rules[name] = reduce;
  rules["ArgMax"] = arg;
  rules["ArgMin"] = arg;
  rules["LayerNormalization"] = layer_norm;
  rules["SimplifiedLayerNormalization"] = layer_norm;
  rules["BatchNormalization"] = batch_norm;
  rules["InstanceNormalization"] = instance_norm;
  rules["GroupNormalization"] = instance_norm;
  rules["TopK"] = top_k;
  rules["NegativeLogLikelihoodLoss"] = loss;
  rules["SoftmaxCrossEntropyLoss"] = loss;
  rules["CumSum"] = [](OnnxTranslator& to, const OnnxNode& node) {
    along(to, node, "CumSum", {-1});
  };
  rules["LpNormalization"] = [](OnnxTranslator& to, const OnnxNode& node) {
    along(to, node, "LpNormalization", {node.integer("axis", -1)});
  };
  rules["MeanVarianceNormalization"] = [](OnnxTranslator& to, const OnnxNode& node) {
    along(to, node, "MeanVariance", node.integers("axes", {0, 2, 3}));
  };
  rules["LRN"] = [](OnnxTranslator& to, const OnnxNode& node) {
    along(to, node, "LocalResponse", {1});
  };
}

}  // namespace foretell
