#include "workloads/ir/operators.hpp"

#include <unordered_map>
#include <utility>

#include "model/base/errors.hpp"
#include "workloads/ir/operators/families.hpp"
#include "workloads/ir/operators/networks.hpp"

namespace foretell {

namespace {

const std::vector<OperatorInfo>& general_rows() {
  using namespace operators;
  // kind, fewest and most inputs, attributes, shapes, flops, summary
  static const std::vector<OperatorInfo> kTable{
      {"MatMul",
       2,
       2,
       {"transpose_b"},
       matmul_shapes,
       matmul_flops,
       "batched matrix product [.., M, K] x [.., K, N]; transpose_b: the second is [.., N, K]"},
      {"Add",
       1,
       2,
       {"scalar"},
       elementwise_shapes,
       elementwise_flops,
       "sum with broadcasting; with one input the attribute 'scalar' is the other"},
      {"AllReduce",
       1,
       100'000,
       {"ranks"},
       all_reduce_shapes,
       no_flops,
       "sums over `ranks` cores: those that share one copy, or in training all copies"},
      {"ReduceScatter",
       1,
       1,
       {"axis", "ranks", "stride"},
       reduce_scatter_shapes,
       no_flops,
       "sum over `ranks` cores of a copy, `stride` apart, each of which keeps its share of an "
       "axis"},
      {"AllGather",
       1,
       1,
       {"axis", "ranks", "size", "stride"},
       all_gather_shapes,
       no_flops,
       "an axis of `size` from the shares that `ranks` cores of a copy, `stride` apart, have of "
       "it"},
      {"AllToAll",
       1,
       1,
       {"ranks"},
       unary_shapes,
       no_flops,
       "each of `ranks` cores sends every other an equal share of its tensor"},
      {"SendReceive",
       1,
       2,
       {"ranks"},
       send_receive_shapes,
       no_flops,
       "each of `ranks` cores in a ring sends its tensors to the next one, and has those of the "
       "one before"},
      {"Sub", 1, 2, {"scalar"}, elementwise_shapes, elementwise_flops, "difference, as Add"},
      {"Mul", 1, 2, {"scalar"}, elementwise_shapes, elementwise_flops, "product, as Add"},
      {"Div", 1, 2, {"scalar"}, elementwise_shapes, elementwise_flops, "quotient, as Add"},
      {"CausalMask",
       1,
       1,
       {"offset", "window"},
       causal_mask_shapes,
       no_flops,
       "scores [.., Q, K]: key k stays visible to query q while k <= q + offset, else -infinity; "
       "window: and while k > q + offset - window"},
      {"Softmax", 1, 1, {"axis"}, softmax_shapes, softmax_flops, "softmax along an axis"},
      {"LayerNorm",
       3,
       3,
       {"epsilon"},
       layer_norm_shapes,
       layer_norm_flops,
       "x, gamma, beta: normalises the last axis to mean 0 and variance 1"},
      {"RmsNorm",
       2,
       2,
       {"epsilon"},
       rms_norm_shapes,
       rms_norm_flops,
       "x, gamma: divides the last axis by its root mean square"},
      {"Elementwise",
       1,
       64,
       {"function"},
       general_elementwise_shapes,
       general_elementwise_flops,
       "any other function element by element, with broadcasting: Abs, Clip, Where, Max, …"},
      {"Reduce",
       1,
       1,
       {"function", "axes", "keep_dims"},
       general_reduce_shapes,
       general_reduce_flops,
       "any reduction of several axes: Sum, Mean, Prod, LogSumExp, ArgMax, …"},
      {"AlongAxis",
       1,
       1,
       {"function", "axes"},
       along_axis_shapes,
       along_axis_flops,
       "a result for every element from all along some axes: LogSoftmax, CumSum, …"},
      {"Move",
       1,
       64,
       {"function", "shape"},
       move_shapes,
       move_flops,
       "elements taken from anywhere in the inputs: Tile, Scatter, Interpolate, …"},
      {"BatchNorm",
       3,
       5,
       {"epsilon"},
       channel_norm_shapes,
       batch_norm_flops,
       "x [N, C, ..], scale, offset, of which a known mean and variance are part or stated"},
      {"GroupNorm",
       3,
       3,
       {"groups", "epsilon"},
       channel_norm_shapes,
       layer_norm_flops,
       "x [N, C, ..], scale, offset: normalises groups of channels of every image"},
      {"Conv",
       2,
       3,
       {"strides", "pads", "dilations", "group"},
       conv_shapes,
       conv_flops,
       "x [N, C, 1 to 3 spatial axes], weight [M, C / group, ..], bias [M]"},
      {"ConvTranspose",
       2,
       3,
       {"strides", "pads", "dilations", "group", "output_padding"},
       conv_transpose_shapes,
       conv_transpose_flops,
       "x [N, C, 1 to 3 spatial axes], weight [C, M / group, ..], bias [M]"},
      {"MaxPool",
       1,
       1,
       {"kernel", "strides", "pads", "dilations", "ceil_mode"},
       pool_shapes,
       pool_flops,
       "largest of every window"},
      {"AveragePool",
       1,
       1,
       {"kernel", "strides", "pads", "dilations", "ceil_mode"},
       pool_shapes,
       pool_flops,
       "mean of every window"},
      {"GlobalAveragePool",
       1,
       1,
       {},
       global_pool_shapes,
       one_flop,
       "mean of every channel: [N, C, 1, ..]"},
      {"GlobalMaxPool",
       1,
       1,
       {},
       global_pool_shapes,
       one_flop,
       "largest of every channel: [N, C, 1, ..]"},
      {"Resize",
       1,
       1,
       {"sizes", "mode"},
       resize_shapes,
       resize_flops,
       "resamples the spatial axes to sizes; mode: nearest, linear or cubic"},
      {"Pad", 1, 1, {"pads"}, pad_shapes, no_flops, "elements before and after every axis"},
      {"Gelu",
       1,
       1,
       {"approximate"},
       unary_shapes,
       gelu_flops,
       "Gaussian error linear unit; approximate: 'none' (erf) or 'tanh'"},
      {"Silu", 1, 1, {}, unary_shapes, silu_flops, "x * sigmoid(x)"},
      {"Tanh", 1, 1, {}, unary_shapes, one_flop, "hyperbolic tangent"},
      {"Relu", 1, 1, {}, unary_shapes, one_flop, "max(x, 0)"},
      {"Sigmoid", 1, 1, {}, unary_shapes, one_flop, "logistic function"},
      {"Exp", 1, 1, {}, unary_shapes, one_flop, "exponential"},
      {"Sqrt", 1, 1, {}, unary_shapes, one_flop, "square root"},
      {"Erf", 1, 1, {}, unary_shapes, one_flop, "error function"},
      {"Gather", 2, 2, {}, gather_shapes, no_flops, "rows of a table [V, H] by ids: [.., H]"},
      {"Reshape", 1, 1, {"shape"}, reshape_shapes, no_flops, "same elements, other shape; one -1"},
      {"Transpose", 1, 1, {"perm"}, transpose_shapes, no_flops, "permutes the axes"},
      {"Split", 1, 1, {"axis", "sizes"}, split_shapes, no_flops, "cuts an axis into pieces"},
      {"Slice", 1, 1, {"axis", "begin", "end"}, slice_shapes, no_flops, "[begin, end) of an axis"},
      {"Concat", 2, 64, {"axis"}, concat_shapes, no_flops, "joins tensors along an axis"},
      {"ReduceSum", 1, 1, {"axis", "keep_dims"}, reduce_shapes, reduce_flops, "sum along an axis"},
      {"ReduceMean",
       1,
       1,
       {"axis", "keep_dims"},
       reduce_shapes,
       reduce_flops,
       "mean along an axis"},
      {"ReduceMax",
       1,
       1,
       {"axis", "keep_dims"},
       reduce_shapes,
       reduce_flops,
       "largest along an axis"},
      {"Rope",
       2,
       2,
       {"dim"},
       rope_shapes,
       rope_flops,
       "rotates pairs of the first dim columns of every head by position"},
      {"Alibi",
       1,
       1,
       {},
       unary_shapes,
       alibi_flops,
       "adds the distance of key and query times the slope of the head"},
      {"UpdateCache",
       2,
       2,
       {},
       update_cache_shapes,
       no_flops,
       "writes new rows into a cache on the device"},
      {"TopK",
       1,
       1,
       {"k"},
       top_k_shapes,
       top_k_flops,
       "the k largest of the last axis, and their indices",
       1},
      {"ExpertMatMul",
       3,
       3,
       {"rows", "apart"},
       expert_matmul_shapes,
       expert_matmul_flops,
       "rows times the weights of the experts that were chosen for them (`rows` of each expert "
       "that has any; `apart`: other ranks hold other experts, and the result has these rows)"},
      {"ExpertSum",
       2,
       2,
       {},
       expert_sum_shapes,
       expert_sum_flops,
       "results of the experts of one rank times the router's factors, summed for each token"},
      {"Gradient",
       1,
       64,
       {"of", "shape"},
       gradient_shapes,
       gradient_flops,
       "of a function (`of`): gradients of its results and what it needs of the forward pass"},
      {"ConvWeightGradient",
       2,
       2,
       {"strides", "pads", "dilations", "group", "shape"},
       conv_weight_gradient_shapes,
       conv_weight_gradient_flops,
       "gradient of the weight of a convolution from its input and the gradient of its result"},
      {"Update",
       2,
       1'000'000,
       {"optimizer", "weights"},
       update_shapes,
       update_flops,
       "new weights from weights, their gradients and the state of an optimiser"},
  };
  return kTable;
}

}  // namespace

const std::vector<OperatorInfo>& operator_table() {
  static const std::vector<OperatorInfo> kTable = [] {
    std::vector<OperatorInfo> all = general_rows();
    const std::vector<OperatorInfo> more = operators::network_rows();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return kTable;
}

const OperatorInfo& find_operator(std::string_view kind) {
  static const std::unordered_map<std::string_view, const OperatorInfo*> kByKind = [] {
    std::unordered_map<std::string_view, const OperatorInfo*> by_kind;
    for (const OperatorInfo& info : operator_table()) by_kind.emplace(info.kind, &info);
    return by_kind;
  }();
  const auto found = kByKind.find(kind);
  if (found != kByKind.end()) return *found->second;
  std::vector<std::string> kinds;
  for (const OperatorInfo& info : operator_table()) kinds.emplace_back(info.kind);
  throw UserError(
      std::string(unknown_name("operator", kind, kinds).what()) +
      "; to add one: a shape rule and a flop count under workloads/ir/operators/, a line in "
      "workloads/ir/operators.cpp and a mapping in model/mapping");
}

bool broadcast(const Shape& a, const Shape& b, Shape* result) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape shape = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& dimension = shape[offset + i];
    if (shorter[i] == dimension || shorter[i] == 1) continue;
    if (dimension != 1) return false;
    dimension = shorter[i];
  }
  *result = std::move(shape);
  return true;
}

OpView::OpView(const Op& op, std::vector<const Shape*> inputs)
    : op_(op), inputs_(std::move(inputs)) {}

std::int64_t OpView::rank(std::size_t index) const {
  return static_cast<std::int64_t>(input(index).size());
}

bool OpView::has(std::string_view attribute) const {
  return op_.attributes.find(std::string(attribute)) != op_.attributes.end();
}

const Attribute& OpView::find(std::string_view attribute) const {
  const auto found = op_.attributes.find(std::string(attribute));
  if (found == op_.attributes.end()) fail("attribute '" + std::string(attribute) + "' is missing");
  return found->second;
}

std::int64_t OpView::integer(std::string_view attribute) const {
  const auto* value = std::get_if<std::int64_t>(&find(attribute));
  if (value == nullptr) fail("attribute '" + std::string(attribute) + "' must be an integer");
  return *value;
}

double OpView::number(std::string_view attribute) const {
  const Attribute& value = find(attribute);
  if (const auto* integer_value = std::get_if<std::int64_t>(&value))
    return static_cast<double>(*integer_value);
  const auto* number_value = std::get_if<double>(&value);
  if (number_value == nullptr) fail("attribute '" + std::string(attribute) + "' must be a number");
  return *number_value;
}

const std::vector<std::int64_t>& OpView::integers(std::string_view attribute) const {
  const auto* value = std::get_if<std::vector<std::int64_t>>(&find(attribute));
  if (value == nullptr)
    fail("attribute '" + std::string(attribute) + "' must be a list of integers");
  return *value;
}

const std::string& OpView::text(std::string_view attribute) const {
  const auto* value = std::get_if<std::string>(&find(attribute));
  if (value == nullptr) fail("attribute '" + std::string(attribute) + "' must be text");
  return *value;
}

std::int64_t OpView::axis(std::string_view attribute, std::int64_t rank) const {
  const std::int64_t given = integer(attribute);
  if (given < -rank || given >= rank) {
    fail("attribute '" + std::string(attribute) + "' is " + std::to_string(given) +
         ", but the tensor has " + std::to_string(rank) + " dimensions");
  }
  return given < 0 ? given + rank : given;
}

void OpView::fail(const std::string& message) const {
  throw UserError("operator '" + op_.name + "' (" + op_.kind + "): " + message);
}

}  // namespace foretell
