// Sliding windows over the spatial axes of [batch, channels, spatial..]: what convolutions and
// poolings share. One, two or three spatial axes.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/ir/operators.hpp"

namespace foretell::operators {

// Attributes `strides`, `dilations` (one per spatial axis, 1 where they are left out), `pads` (all
// begins, then all ends, 0 where they are left out) and, for poolings, `ceil_mode`.
struct Window {
  std::vector<std::int64_t> kernel, strides, dilations, pads;

  std::size_t axes() const { return kernel.size(); }
  // Positions that a kernel covers, its gaps included.
  std::int64_t extent(std::size_t axis) const { return dilations[axis] * (kernel[axis] - 1) + 1; }
  std::int64_t positions() const { return element_count(kernel); }
};

// UserError where the lists do not fit the input, a number is out of range, or there are not one to
// three spatial axes.
Window window_of(const OpView& op, std::vector<std::int64_t> kernel);

// Spatial axes of the result of moving the window over those of input 0. UserError where the window
// is larger than the padded input.
Shape slide(const OpView& op, const Window& window);

}  // namespace foretell::operators
