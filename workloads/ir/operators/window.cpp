#include "workloads/ir/operators/window.hpp"

#include <algorithm>
#include <utility>

namespace foretell::operators {
namespace {

constexpr std::int64_t kLargest = 1 << 20;  // of any number of a window

std::vector<std::int64_t> list(const OpView& op, const char* name, std::size_t count,
                               std::int64_t otherwise, std::int64_t least) {
  if (!op.has(name)) return std::vector<std::int64_t>(count, otherwise);
  const std::vector<std::int64_t>& values = op.integers(name);
  if (values.size() != count) {
    op.fail("attribute '" + std::string(name) + "' has " + std::to_string(values.size()) +
            " numbers, needs " + std::to_string(count));
  }
  for (const std::int64_t value : values) {
    if (value < least || value > kLargest) {
      op.fail("attribute '" + std::string(name) + "' is " + to_string(values) + ": from " +
              std::to_string(least) + " to " + std::to_string(kLargest) + " is possible");
    }
  }
  return values;
}

}  // namespace

Window window_of(const OpView& op, std::vector<std::int64_t> kernel) {
  if (op.rank(0) < 3 || op.rank(0) > 5) {
    op.fail("needs [batch, channels, 1 to 3 spatial axes], got " + to_string(op.input(0)));
  }
  const std::size_t axes = op.input(0).size() - 2;
  if (kernel.size() != axes) {
    op.fail("a kernel of " + to_string(kernel) + " does not fit " + to_string(op.input(0)));
  }
  for (const std::int64_t size : kernel) {
    if (size < 1 || size > kLargest) op.fail("a kernel of " + to_string(kernel));
  }
  Window window;
  window.kernel = std::move(kernel);
  window.strides = list(op, "strides", axes, 1, 1);
  window.dilations = list(op, "dilations", axes, 1, 1);
  window.pads = list(op, "pads", 2 * axes, 0, 0);
  return window;
}

Shape slide(const OpView& op, const Window& window) {
  const bool round_up = op.has("ceil_mode") && op.integer("ceil_mode") != 0;
  Shape result;
  for (std::size_t axis = 0; axis < window.axes(); ++axis) {
    const std::int64_t size = op.input(0)[axis + 2];
    const std::int64_t begin = window.pads[axis];
    const std::int64_t room =
        size + begin + window.pads[axis + window.axes()] - window.extent(axis);
    if (room < 0) {
      op.fail("a kernel of " + to_string(window.kernel) +
              " with these pads and dilations is larger than " + to_string(op.input(0)));
    }
    const std::int64_t stride = window.strides[axis];
    std::int64_t count = (round_up ? room + stride - 1 : room) / stride + 1;
    // A window that would begin after the input and its front padding is left out.
    if (round_up && (count - 1) * stride >= size + begin) --count;
    result.push_back(count);
  }
  return result;
}

}  // namespace foretell::operators
