// Operators that networks rarely spend time in, by the function that they compute: they differ in
// their arithmetic per element, not in what moves.
#include <algorithm>
#include <array>

#include "workloads/ir/operators/families.hpp"

namespace foretell::operators {
namespace {

struct Function {
  std::string_view name;
  double flops;  // per element, see each operator
};

// Per element of the result, as its formula is written: comparisons, selections and transcendental
// functions count as one.
constexpr std::array kElementwise{Function{"Abs", 1},         Function{"Acos", 1},
                                  Function{"Acosh", 1},       Function{"And", 1},
                                  Function{"Asin", 1},        Function{"Asinh", 1},
                                  Function{"Atan", 1},        Function{"Atanh", 1},
                                  Function{"BitShift", 1},    Function{"Cast", 0},
                                  Function{"Ceil", 1},        Function{"Celu", 6},
                                  Function{"Clip", 2},        Function{"Cos", 1},
                                  Function{"Cosh", 1},        Function{"Elu", 4},
                                  Function{"Equal", 1},       Function{"Floor", 1},
                                  Function{"Greater", 1},     Function{"GreaterOrEqual", 1},
                                  Function{"HardSigmoid", 4}, Function{"HardSwish", 5},
                                  Function{"IsInf", 1},       Function{"IsNaN", 1},
                                  Function{"LeakyRelu", 2},   Function{"Less", 1},
                                  Function{"LessOrEqual", 1}, Function{"Log", 1},
                                  Function{"Max", 1},         Function{"Mean", 1},
                                  Function{"Min", 1},         Function{"Mish", 4},
                                  Function{"Mod", 1},         Function{"Neg", 1},
                                  Function{"Not", 1},         Function{"Or", 1},
                                  Function{"Pow", 1},         Function{"PRelu", 2},
                                  Function{"Quantise", 3},    Function{"Dequantise", 2},
                                  Function{"Reciprocal", 1},  Function{"Round", 1},
                                  Function{"Selu", 5},        Function{"Shrink", 3},
                                  Function{"Sign", 1},        Function{"Sin", 1},
                                  Function{"Sinh", 1},        Function{"Softplus", 3},
                                  Function{"Softsign", 3},    Function{"Sum", 1},
                                  Function{"Tan", 1},         Function{"ThresholdedRelu", 2},
                                  Function{"Where", 1},       Function{"Xor", 1}};

// Per element of the input.
constexpr std::array kReductions{
    Function{"Sum", 1},       Function{"Mean", 1},   Function{"Max", 1},
    Function{"Min", 1},       Function{"Prod", 1},   Function{"L1", 2},
    Function{"L2", 2},        Function{"LogSum", 1}, Function{"LogSumExp", 2},
    Function{"SumSquare", 2}, Function{"ArgMax", 1}, Function{"ArgMin", 1}};

constexpr std::array kAlongAxis{Function{"LogSoftmax", 5},   Function{"Hardmax", 2},
                                Function{"CumSum", 1},       Function{"LpNormalization", 3},
                                Function{"MeanVariance", 5}, Function{"LocalResponse", 6}};

// Per element of the result: interpolations have their weights and products.
constexpr std::array kMoves{Function{"Copy", 0},
                            Function{"Concat", 0},
                            Function{"WeightedSum", 8},
                            Function{"Expand", 0},
                            Function{"Tile", 0},
                            Function{"Gather", 0},
                            Function{"GatherElements", 0},
                            Function{"GatherND", 0},
                            Function{"Scatter", 0},
                            Function{"ScatterElements", 0},
                            Function{"ScatterND", 0},
                            Function{"Slice", 0},
                            Function{"Pad", 0},
                            Function{"Resize", 0},
                            Function{"Triangle", 0},
                            Function{"OneHot", 0},
                            Function{"Generate", 0},
                            Function{"ReverseSequence", 0},
                            Function{"Roll", 0},
                            Function{"MaxUnpool", 0},
                            Function{"Average", 1},
                            Function{"Transpose", 0},
                            Function{"Interpolate", 8},
                            Function{"GridSample", 14},
                            Function{"RoiAlign", 32}};

template <std::size_t N>
double flops_of(const OpView& op, const std::array<Function, N>& functions) {
  const std::string& name = op.text("function");
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&name](const Function& f) { return f.name == name; });
  if (found == functions.end()) op.fail("no function '" + name + "' is known");
  return found->flops;
}

double count(const Shape& shape) { return static_cast<double>(element_count(shape)); }

}  // namespace

std::vector<Shape> general_elementwise_shapes(const OpView& op) {
  Shape result = op.input(0);
  for (std::size_t i = 1; i < op.input_count(); ++i) {
    const Shape before = result;
    if (!broadcast(before, op.input(i), &result)) {
      op.fail("shapes " + to_string(before) + " and " + to_string(op.input(i)) +
              " do not broadcast");
    }
  }
  return {result};
}

double general_elementwise_flops(const OpView& op) {
  // Sums, means, maxima and minima of many are taken two by two.
  const std::string& name = op.text("function");
  const bool pairwise = name == "Sum" || name == "Mean" || name == "Max" || name == "Min";
  const double steps = pairwise ? std::max(1.0, static_cast<double>(op.input_count()) - 1.0) : 1.0;
  return steps * flops_of(op, kElementwise) * count(general_elementwise_shapes(op).front());
}

std::vector<Shape> general_reduce_shapes(const OpView& op) {
  Shape result;
  const std::vector<std::int64_t>& axes = op.integers("axes");
  for (const std::int64_t axis : axes) {
    if (axis < 0 || axis >= op.rank(0))
      op.fail("axes " + to_string(axes) + " are not those of " + to_string(op.input(0)));
  }
  const bool keep = op.integer("keep_dims") != 0;
  for (std::int64_t axis = 0; axis < op.rank(0); ++axis) {
    const bool reduced = std::find(axes.begin(), axes.end(), axis) != axes.end();
    if (!reduced) result.push_back(op.input(0)[static_cast<std::size_t>(axis)]);
    if (reduced && keep) result.push_back(1);
  }
  return {result};
}

double general_reduce_flops(const OpView& op) {
  return flops_of(op, kReductions) * count(op.input(0));
}

std::vector<Shape> along_axis_shapes(const OpView& op) {
  for (const std::int64_t axis : op.integers("axes")) {
    if (axis < 0 || axis >= op.rank(0)) {
      op.fail("axes " + to_string(op.integers("axes")) + " are not those of " +
              to_string(op.input(0)));
    }
  }
  return {op.input(0)};
}

double along_axis_flops(const OpView& op) { return flops_of(op, kAlongAxis) * count(op.input(0)); }

std::vector<Shape> move_shapes(const OpView& op) { return {op.integers("shape")}; }

double move_flops(const OpView& op) { return flops_of(op, kMoves) * count(op.integers("shape")); }

}  // namespace foretell::operators
