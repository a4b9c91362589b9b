// Operators of the backward pass and of the update, as workloads/ir/training derives them.
#include <algorithm>
#include <array>

#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {
namespace {

struct Derivative {
  std::string_view of;
  double flops;  // per element of the largest operand or result
};

// What the derivative times the incoming gradient takes, as the formulas are written: sums,
// products and functions count as one, a mean as one.
constexpr std::array kDerivatives{
    Derivative{"Loss", 6},        Derivative{"Softmax", 4},      Derivative{"LayerNorm", 11},
    Derivative{"RmsNorm", 8},     Derivative{"ChannelNorm", 11}, Derivative{"Parameters", 4},
    Derivative{"Gelu", 12},       Derivative{"Silu", 5},         Derivative{"Sigmoid", 3},
    Derivative{"Tanh", 3},        Derivative{"Relu", 1},         Derivative{"Exp", 1},
    Derivative{"Sqrt", 2},        Derivative{"Erf", 4},          Derivative{"Div", 3},
    Derivative{"Elementwise", 3}, Derivative{"AlongAxis", 6},    Derivative{"Reduce", 1},
    Derivative{"Gather", 1},      Derivative{"Move", 1},         Derivative{"Pool", 1},
    Derivative{"Resize", 4}};

// Per parameter. SGD: rate times gradient, sum. Momentum: its factor and a sum more. Adam (Kingma
// and Ba, 2015, algorithm 1): two moving means of three each with the square, two corrections, a
// root, a sum, a quotient, the rate and the sum.
constexpr std::array kUpdates{Derivative{"sgd", 2}, Derivative{"momentum", 4},
                              Derivative{"adam", 14}};

template <std::size_t N>
double flops_in(const OpView& op, std::string_view attribute, const std::array<Derivative, N>& in) {
  const std::string& name = op.text(attribute);
  const auto found =
      std::find_if(in.begin(), in.end(), [&name](const Derivative& d) { return d.of == name; });
  if (found == in.end()) op.fail("no " + std::string(attribute) + " '" + name + "' is known");
  return found->flops;
}

double elements(const Shape& shape) { return static_cast<double>(element_count(shape)); }

std::size_t weights_of(const OpView& op) {
  const std::int64_t weights = op.integer("weights");
  if (weights < 1 || op.input_count() < 2 * static_cast<std::size_t>(weights))
    op.fail("needs a gradient for each of its " + std::to_string(weights) + " weights");
  return static_cast<std::size_t>(weights);
}

}  // namespace

std::vector<Shape> gradient_shapes(const OpView& op) { return {op.integers("shape")}; }

double gradient_flops(const OpView& op) {
  double most = elements(op.integers("shape"));
  for (std::size_t i = 0; i < op.input_count(); ++i) most = std::max(most, elements(op.input(i)));
  return flops_in(op, "of", kDerivatives) * most;
}

// x [N, C, spatial..] and the gradient of the result [N, M, spatial..] yield that of the weight.
std::vector<Shape> conv_weight_gradient_shapes(const OpView& op) {
  const Shape& weight = op.integers("shape");
  const Shape& x = op.input(0);
  const Shape& result = op.input(1);
  const std::int64_t group = op.has("group") ? op.integer("group") : 1;
  if (weight.size() < 3 || x.size() != weight.size() || result.size() != weight.size() ||
      x[0] != result[0] || weight[0] != result[1] || weight[1] * group != x[1]) {
    op.fail("weight " + to_string(weight) + " in " + std::to_string(group) +
            " groups does not fit input " + to_string(x) + " and result " + to_string(result));
  }
  return {weight};
}

double conv_weight_gradient_flops(const OpView& op) {
  const Shape& weight = op.integers("shape");
  return 2.0 * elements(op.input(1)) * elements(weight) / static_cast<double>(weight[0]);
}

// Weights, a gradient of each, and what else is updated: all but the gradients come out again.
std::vector<Shape> update_shapes(const OpView& op) {
  const std::size_t weights = weights_of(op);
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < op.input_count(); ++i) {
    if (i < weights && op.input(i) != op.input(weights + i)) {
      op.fail("gradient " + to_string(op.input(weights + i)) + " does not fit weight " +
              to_string(op.input(i)));
    }
    if (i < weights || i >= 2 * weights) shapes.push_back(op.input(i));
  }
  return shapes;
}

double update_flops(const OpView& op) {
  double parameters = 0;
  for (std::size_t i = 0; i < weights_of(op); ++i) parameters += elements(op.input(i));
  return flops_in(op, "optimizer", kUpdates) * parameters;
}

// Several tensors at once, each by itself.
std::vector<Shape> all_reduce_shapes(const OpView& op) {
  std::vector<Shape> shapes;
  for (std::size_t i = 0; i < op.input_count(); ++i) shapes.push_back(op.input(i));
  return shapes;
}

}  // namespace foretell::operators
