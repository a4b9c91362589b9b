// Matrix products, convolutions and poolings.
#include <algorithm>
#include <utility>

#include "workloads/import/onnx/onnx_translator.hpp"

namespace foretell {
namespace {

using Integers = std::vector<std::int64_t>;

// Vectors as one row or one column.
TensorId product(OnnxTranslator& to, const OnnxNode& node, TensorId a, TensorId b) {
  const bool row = to.shape(a).size() == 1;
  const bool column = to.shape(b).size() == 1;
  if (row) a = to.reshape(node, a, {1, to.shape(a)[0]}, "row");
  if (column) b = to.reshape(node, b, {to.shape(b)[0], 1}, "column");
  std::map<std::string, Attribute> attributes;
  if (node.integer("transpose_b", 0) != 0) attributes["transpose_b"] = std::int64_t{1};
  const TensorId c = to.add(node, "MatMul", {a, b}, std::move(attributes));
  return row || column ? to.reshape(node, c, to.tensor(node.outputs.at(0)).shape, "flat") : c;
}

void mat_mul(OnnxTranslator& to, const OnnxNode& node) {
  to.set(node.outputs.at(0), product(to, node, to.id(node.inputs.at(0)), to.id(node.inputs.at(1))));
}

// a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point
void q_linear_mat_mul(OnnxTranslator& to, const OnnxNode& node) {
  to.set(node.outputs.at(0), product(to, node, to.id(node.inputs.at(0)), to.id(node.inputs.at(3))));
}

// alpha * A' * B' + beta * C
void gemm(OnnxTranslator& to, const OnnxNode& node) {
  TensorId a = to.id(node.inputs.at(0));
  const TensorId b = to.id(node.inputs.at(1));
  if (node.integer("transA", 0) != 0) a = to.transpose(node, a, {1, 0}, "transposed");
  std::map<std::string, Attribute> attributes;
  if (node.integer("transB", 0) != 0) attributes["transpose_b"] = std::int64_t{1};
  TensorId c = to.add(node, "MatMul", {a, b}, std::move(attributes));
  if (node.number("alpha", 1) != 1)
    c = to.add(node, "Mul", {c}, {{"scalar", node.number("alpha", 1)}}, "alpha");
  if (node.has_input(2) && node.number("beta", 1) != 0) {
    TensorId offset = to.id(node.inputs[2]);
    if (node.number("beta", 1) != 1)
      offset = to.add(node, "Mul", {offset}, {{"scalar", node.number("beta", 1)}}, "beta");
    c = to.add(node, "Add", {c, offset}, {}, "bias");
  }
  to.set(node.outputs.at(0), c);
}

// Padding that makes the result as large as the input divided by the stride.
Integers pads_of(const OnnxTranslator& to, const OnnxNode& node, const Shape& x,
                 const Integers& kernel, const Integers& strides, const Integers& dilations) {
  const std::string mode = node.text("auto_pad", "NOTSET");
  const std::size_t axes = kernel.size();
  if (mode == "NOTSET" || mode.empty()) return node.integers("pads", Integers(2 * axes, 0));
  Integers pads(2 * axes, 0);
  if (mode == "VALID") return pads;
  if (mode != "SAME_UPPER" && mode != "SAME_LOWER") to.fail(node, "auto_pad is '" + mode + "'");
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t size = x[axis + 2];
    const std::int64_t count = (size + strides[axis] - 1) / strides[axis];
    const std::int64_t extent = dilations[axis] * (kernel[axis] - 1) + 1;
    const std::int64_t all = std::max<std::int64_t>(0, (count - 1) * strides[axis] + extent - size);
    const std::int64_t less = all / 2;
    pads[axis] = mode == "SAME_UPPER" ? less : all - less;
    pads[axis + axes] = all - pads[axis];
  }
  return pads;
}

std::map<std::string, Attribute> window_of(const OnnxTranslator& to, const OnnxNode& node,
                                           const Shape& x, const Integers& kernel) {
  if (x.size() < 3) to.fail(node, "needs [batch, channels, spatial axes], got " + to_string(x));
  const std::size_t axes = x.size() - 2;
  if (kernel.size() != axes) to.fail(node, "a kernel of " + to_string(kernel));
  const Integers strides = node.integers("strides", Integers(axes, 1));
  const Integers dilations = node.integers("dilations", Integers(axes, 1));
  if (strides.size() != axes || dilations.size() != axes)
    to.fail(node, "strides or dilations do not fit " + to_string(x));
  return {{"strides", strides},
          {"dilations", dilations},
          {"pads", pads_of(to, node, x, kernel, strides, dilations)}};
}

void convolve(OnnxTranslator& to, const OnnxNode& node, std::vector<TensorId> inputs) {
  const Shape& weight = to.shape(inputs.at(1));
  if (weight.size() < 3) to.fail(node, "weight of shape " + to_string(weight));
  auto attributes = window_of(to, node, to.shape(inputs.at(0)), {weight.begin() + 2, weight.end()});
  attributes["group"] = node.integer("group", 1);
  to.give(node, "Conv", std::move(inputs), std::move(attributes));
}

void conv(OnnxTranslator& to, const OnnxNode& node) {
  std::vector<TensorId> inputs{to.id(node.inputs.at(0)), to.id(node.inputs.at(1))};
  if (node.has_input(2)) inputs.push_back(to.id(node.inputs[2]));
  convolve(to, node, std::move(inputs));
}

// x, w and, after them, what scales and shifts the integers.
void conv_integer(OnnxTranslator& to, const OnnxNode& node) {
  convolve(to, node, {to.id(node.inputs.at(0)), to.id(node.inputs.at(1))});
}

void q_linear_conv(OnnxTranslator& to, const OnnxNode& node) {
  std::vector<TensorId> inputs{to.id(node.inputs.at(0)), to.id(node.inputs.at(3))};
  if (node.has_input(8)) inputs.push_back(to.id(node.inputs[8]));
  convolve(to, node, std::move(inputs));
}

void conv_transpose(OnnxTranslator& to, const OnnxNode& node) {
  std::vector<TensorId> inputs{to.id(node.inputs.at(0)), to.id(node.inputs.at(1))};
  if (node.has_input(2)) inputs.push_back(to.id(node.inputs[2]));
  const Shape& x = to.shape(inputs[0]);
  const Shape& weight = to.shape(inputs[1]);
  const Shape& result = to.tensor(node.outputs.at(0)).shape;
  if (x.size() < 3 || weight.size() != x.size() || result.size() != x.size())
    to.fail(node, "weight of shape " + to_string(weight) + " for " + to_string(x));
  const std::size_t axes = x.size() - 2;
  const Integers strides = node.integers("strides", Integers(axes, 1));
  const Integers dilations = node.integers("dilations", Integers(axes, 1));
  if (strides.size() != axes || dilations.size() != axes)
    to.fail(node, "strides or dilations do not fit " + to_string(x));
  // However the file states the padding, it follows from the shape of the result.
  Integers pads(2 * axes, 0);
  Integers extra(axes, 0);
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t full =
        strides[axis] * (x[axis + 2] - 1) + dilations[axis] * (weight[axis + 2] - 1) + 1;
    pads[axis] = std::max<std::int64_t>(0, full - result[axis + 2]);
    extra[axis] = std::max<std::int64_t>(0, result[axis + 2] - full);
  }
  to.give(node, "ConvTranspose", std::move(inputs),
          {{"strides", strides},
           {"dilations", dilations},
           {"pads", pads},
           {"output_padding", extra},
           {"group", node.integer("group", 1)}});
}

void pool(OnnxTranslator& to, const OnnxNode& node) {
  const TensorId x = to.id(node.inputs.at(0));
  const Integers kernel = node.integers("kernel_shape", {});
  auto attributes = window_of(to, node, to.shape(x), kernel);
  attributes["kernel"] = kernel;
  attributes["ceil_mode"] = node.integer("ceil_mode", 0);
  const bool largest = node.type == "MaxPool";
  const bool powers = node.type == "LpPool";
  TensorId source = x;
  if (powers)
    source = to.add(node, "Elementwise", {x}, {{"function", std::string("Pow")}}, "power");
  TensorId result = to.add(node, largest ? "MaxPool" : "AveragePool", {source}, attributes);
  if (powers) {
    result = to.add(node, "Elementwise", {result}, {{"function", std::string("Pow")}}, "root");
  }
  to.set(node.outputs.at(0), result);
  if (node.outputs.size() > 1 && !node.outputs[1].empty()) {
    to.set(node.outputs[1], to.add(node, "MaxPool", {x}, std::move(attributes), "indices"));
  }
}

void global_pool(OnnxTranslator& to, const OnnxNode& node) {
  to.give(node, node.type == "GlobalMaxPool" ? "GlobalMaxPool" : "GlobalAveragePool",
          {to.id(node.inputs.at(0))});
}

// Axes that "..." stands for become capitals of their own: every term must have the same number.
void name_ellipses(const OnnxTranslator& to, const OnnxNode& node, std::string* equation) {
  const std::size_t first = equation->find("...");
  if (first == std::string::npos) return;
  const std::size_t begin = equation->rfind(',', first) + 1;  // 0 where there is none
  const std::size_t end = std::min(equation->find_first_of(",-", first), equation->size());
  const auto operand = static_cast<std::size_t>(
      std::count(equation->begin(), equation->begin() + static_cast<std::ptrdiff_t>(first), ','));
  if (operand >= node.inputs.size()) to.fail(node, "equation '" + *equation + "'");
  const std::size_t named = end - begin - 3;
  const std::size_t rank = to.tensor(node.inputs[operand]).shape.size();
  std::string letters;
  for (std::size_t i = named; i < rank; ++i) letters += static_cast<char>('A' + (i - named));
  for (std::size_t at = first; at != std::string::npos; at = equation->find("..."))
    equation->replace(at, 3, letters);
}

// One term of an einsum: "bij".
std::vector<std::string> terms_of(const OnnxTranslator& to, const OnnxNode& node,
                                  std::string* result) {
  std::string equation = node.text("equation", "");
  equation.erase(std::remove(equation.begin(), equation.end(), ' '), equation.end());
  name_ellipses(to, node, &equation);
  const std::size_t arrow = equation.find("->");
  std::vector<std::string> terms(1);
  for (const char c : equation.substr(0, arrow)) {
    if (c == ',') {
      terms.emplace_back();
    } else {
      terms.back() += c;
    }
  }
  if (arrow != std::string::npos) {
    *result = equation.substr(arrow + 2);
    return terms;
  }
  std::string all = equation;
  std::sort(all.begin(), all.end());
  for (const char c : all) {
    if (c != ',' && std::count(all.begin(), all.end(), c) == 1) *result += c;
  }
  return terms;
}

// Two operands: a batched product, with transpositions around it.
class Einsum {
 public:
  Einsum(OnnxTranslator& to, const OnnxNode& node) : to_(to), node_(node) {
    terms_ = terms_of(to, node, &result_);
  }

  void run() {
    const bool repeats = std::any_of(terms_.begin(), terms_.end(), [](const std::string& term) {
      return std::any_of(term.begin(), term.end(),
                         [&](char c) { return std::count(term.begin(), term.end(), c) > 1; });
    });
    if (terms_.size() != node_.inputs.size() || terms_.size() > 2 || repeats)
      to_.fail(node_, "equation '" + node_.text("equation", "") + "' is not supported");
    if (terms_.size() == 1) return single();
    const std::string& a = terms_[0];
    const std::string& b = terms_[1];
    const auto in = [](const std::string& term, char c) {
      return term.find(c) != std::string::npos;
    };
    std::string batch, rows, columns, inner;
    for (const char c : a) (in(b, c) ? (in(result_, c) ? batch : inner) : rows) += c;
    for (const char c : b) {
      if (!in(a, c)) columns += c;
    }
    const TensorId left = operand(0, {batch, rows, inner}, "left");
    const TensorId right = operand(1, {batch, inner, columns}, "right");
    TensorId product = to_.add(node_, "MatMul", {left, right});
    Shape shape;
    const std::string order = batch + rows + columns;
    for (const char c : order) shape.push_back(size_of(c));
    product = to_.reshape(node_, product, shape, "split");
    finish(product, order);
  }

 private:
  std::int64_t size_of(char c) const {
    for (std::size_t i = 0; i < terms_.size(); ++i) {
      const std::size_t at = terms_[i].find(c);
      if (at != std::string::npos) return to_.tensor(node_.inputs[i]).shape.at(at);
    }
    return 1;
  }

  TensorId operand(std::size_t index, const std::vector<std::string>& groups, const char* part) {
    Integers perm;
    Shape shape;
    for (const std::string& group : groups) {
      std::int64_t size = 1;
      for (const char c : group) {
        perm.push_back(static_cast<std::int64_t>(terms_[index].find(c)));
        size *= size_of(c);
      }
      shape.push_back(size);
    }
    const TensorId x =
        to_.transpose(node_, to_.id(node_.inputs[index]), perm, std::string(part) + ".order");
    return to_.reshape(node_, x, shape, part);
  }

  void single() {
    Integers axes;
    std::string kept;
    for (std::size_t i = 0; i < terms_[0].size(); ++i) {
      const bool stays = result_.find(terms_[0][i]) != std::string::npos;
      if (stays) kept += terms_[0][i];
      if (!stays) axes.push_back(static_cast<std::int64_t>(i));
    }
    TensorId x = to_.id(node_.inputs[0]);
    if (!axes.empty()) {
      x = to_.add(
          node_, "Reduce", {x},
          {{"function", std::string("Sum")}, {"axes", axes}, {"keep_dims", std::int64_t{0}}});
    }
    finish(x, kept);
  }

  void finish(TensorId x, const std::string& order) {
    Integers perm;
    for (const char c : result_) perm.push_back(static_cast<std::int64_t>(order.find(c)));
    to_.set(node_.outputs.at(0), to_.transpose(node_, x, perm, "order"));
  }

  OnnxTranslator& to_;
  const OnnxNode& node_;
  std::vector<std::string> terms_;
  std::string result_;
};

void einsum(OnnxTranslator& to, const OnnxNode& node) { Einsum(to, node).run(); }

}  // namespace

void add_product_rules(OnnxRules& rules) {
  rules["MatMul"] = mat_mul;
  rules["MatMulInteger"] = mat_mul;
  rules["QLinearMatMul"] = q_linear_mat_mul;
  rules["Gemm"] = gemm;
  rules["Conv"] = conv;
  rules["ConvInteger"] = conv_integer;
  rules["QLinearConv"] = q_linear_conv;
  rules["ConvTranspose"] = conv_transpose;
  rules["Einsum"] = einsum;
  for (const char* name : {"MaxPool", "AveragePool", "LpPool"}) rules[name] = pool;
  for (const char* name : {"GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"})
    rules[name] = global_pool;
}

}  // namespace foretell
