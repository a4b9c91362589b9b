// Convolutions over one to three spatial axes: x [N, C, spatial..].
#include <cstddef>

#include "workloads/ir/operators/families.hpp"
#include "workloads/ir/operators/window.hpp"

namespace foretell::operators {
namespace {

// Spatial axes of a weight [out, in, spatial..].
std::vector<std::int64_t> kernel_of(const OpView& op) {
  const Shape& weight = op.input(1);
  if (weight.size() < 3) {
    op.fail("the weight must be [channels, channels, 1 to 3 spatial axes], got " +
            to_string(weight));
  }
  return {weight.begin() + 2, weight.end()};
}

std::int64_t group_of(const OpView& op) {
  const std::int64_t group = op.has("group") ? op.integer("group") : 1;
  if (group < 1) op.fail("attribute 'group' is " + std::to_string(group));
  return group;
}

void check_bias(const OpView& op, std::int64_t channels) {
  if (op.input_count() < 3 || op.input(2) == Shape{channels}) return;
  op.fail("bias has shape " + to_string(op.input(2)) + ", needs " + to_string(Shape{channels}));
}

double bias_flops(const OpView& op, const Shape& result) {
  return op.input_count() < 3 ? 0.0 : static_cast<double>(element_count(result));
}

}  // namespace

// Weight [M, C / group, spatial..]. Every output is a product of M / group filters with the
// C / group channels of their group.
std::vector<Shape> conv_shapes(const OpView& op) {
  const Window window = window_of(op, kernel_of(op));
  const Shape& x = op.input(0);
  const Shape& weight = op.input(1);
  const std::int64_t group = group_of(op);
  if (x[1] != weight[1] * group || weight[0] % group != 0) {
    op.fail("weight " + to_string(weight) + " in " + std::to_string(group) +
            " groups does not fit input " + to_string(x));
  }
  check_bias(op, weight[0]);
  Shape result{x[0], weight[0]};
  const Shape spatial = slide(op, window);
  result.insert(result.end(), spatial.begin(), spatial.end());
  return {result};
}

double conv_flops(const OpView& op) {
  const Shape result = conv_shapes(op).front();
  const Shape& weight = op.input(1);
  const std::int64_t weights_per_output = element_count(weight) / weight[0];
  const auto per_output = static_cast<double>(weights_per_output);
  return 2.0 * static_cast<double>(element_count(result)) * per_output + bias_flops(op, result);
}

// Weight [C, M / group, spatial..]. Every input is spread over the positions of the kernel.
std::vector<Shape> conv_transpose_shapes(const OpView& op) {
  const Window window = window_of(op, kernel_of(op));
  const Shape& x = op.input(0);
  const Shape& weight = op.input(1);
  const std::int64_t group = group_of(op);
  if (x[1] != weight[0] || x[1] % group != 0) {
    op.fail("weight " + to_string(weight) + " in " + std::to_string(group) +
            " groups does not fit input " + to_string(x));
  }
  const std::int64_t channels = weight[1] * group;
  check_bias(op, channels);
  std::vector<std::int64_t> extra(window.axes(), 0);
  if (op.has("output_padding")) extra = op.integers("output_padding");
  if (extra.size() != window.axes()) op.fail("attribute 'output_padding' is " + to_string(extra));
  Shape result{x[0], channels};
  for (std::size_t axis = 0; axis < window.axes(); ++axis) {
    const std::int64_t size = window.strides[axis] * (x[axis + 2] - 1) + extra[axis] +
                              window.extent(axis) - window.pads[axis] -
                              window.pads[axis + window.axes()];
    if (extra[axis] < 0 || size < 1) {
      op.fail("nothing of the result is left: axis " + std::to_string(axis + 2) + " would have " +
              std::to_string(size) + " elements");
    }
    result.push_back(size);
  }
  return {result};
}

double conv_transpose_flops(const OpView& op) {
  const Shape& weight = op.input(1);
  const std::int64_t weights_per_input = element_count(weight) / weight[0];
  const auto per_input = static_cast<double>(weights_per_input);
  return 2.0 * static_cast<double>(element_count(op.input(0))) * per_input +
         bias_flops(op, conv_transpose_shapes(op).front());
}

}  // namespace foretell::operators
