// Pooling over windows of the spatial axes of [N, C, spatial..]: one flop per position and output.
#include "workloads/ir/operators/families.hpp"
#include "workloads/ir/operators/window.hpp"

namespace foretell::operators {

std::vector<Shape> pool_shapes(const OpView& op) {
  const Window window = window_of(op, op.integers("kernel"));
  Shape result{op.input(0)[0], op.input(0)[1]};
  const Shape spatial = slide(op, window);
  result.insert(result.end(), spatial.begin(), spatial.end());
  return {result};
}

double pool_flops(const OpView& op) {
  const Window window = window_of(op, op.integers("kernel"));
  return static_cast<double>(element_count(pool_shapes(op).front())) *
         static_cast<double>(window.positions());
}

// The whole of every channel: [N, C, 1..].
std::vector<Shape> global_pool_shapes(const OpView& op) {
  Shape result = op.input(0);
  if (result.size() < 3) op.fail("needs [batch, channels, spatial axes], got " + to_string(result));
  for (std::size_t axis = 2; axis < result.size(); ++axis) result[axis] = 1;
  return {result};
}

// Resampling of the spatial axes to those of `sizes`.
std::vector<Shape> resize_shapes(const OpView& op) {
  const std::vector<std::int64_t>& sizes = op.integers("sizes");
  Shape result = op.input(0);
  const bool fits = result.size() == sizes.size() + 2;
  for (std::size_t axis = 0; fits && axis < sizes.size(); ++axis) {
    if (sizes[axis] < 1) op.fail("attribute 'sizes' is " + to_string(sizes));
    result[axis + 2] = sizes[axis];
  }
  if (!fits)
    op.fail("sizes " + to_string(sizes) + " are not the spatial axes of " + to_string(result));
  return {result};
}

// nearest: none; linear: along every axis two products and their sum; cubic: four and three.
double resize_flops(const OpView& op) {
  const std::string& mode = op.text("mode");
  if (mode != "nearest" && mode != "linear" && mode != "cubic") {
    op.fail("attribute 'mode' is '" + mode + "'; allowed are 'nearest', 'linear' and 'cubic'");
  }
  const double per_axis = mode == "nearest" ? 0.0 : (mode == "linear" ? 3.0 : 7.0);
  const auto axes = static_cast<double>(op.input(0).size() - 2);
  return per_axis * axes * static_cast<double>(element_count(resize_shapes(op).front()));
}

// Elements of zeros (or copies of the border) before and after every axis.
std::vector<Shape> pad_shapes(const OpView& op) {
  const std::vector<std::int64_t>& pads = op.integers("pads");
  Shape result = op.input(0);
  if (pads.size() != 2 * result.size()) {
    op.fail("attribute 'pads' is " + to_string(pads) + ", needs a begin and an end for each of " +
            to_string(result));
  }
  for (std::size_t axis = 0; axis < result.size(); ++axis) {
    result[axis] += pads[axis] + pads[axis + result.size()];
    if (result[axis] < 1)
      op.fail("pads " + to_string(pads) + " leave nothing of " + to_string(op.input(0)));
  }
  return {result};
}

}  // namespace foretell::operators
