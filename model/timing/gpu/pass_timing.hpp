// What a kernel costs that goes over its operands without multiplying matrices.
//
// Thread blocks take rows, or parts of a long row of elements: block + (rounds - 1) step cycles
// each, as many on an SM as its threads allow. Beside them the operands move through L2, and
// through DRAM what misses it, results always unless the next call overwrites them in L2. What a
// thread block reads a second time misses where the rows of all that run at a time do not fit.
// Blocks and bytes overlap as far as loads are in flight (shared/closed_network.hpp).
#pragma once

#include <cstdint>

#include "calib/fitted/gpu/operator_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/program/grid.hpp"

namespace foretell {

struct PassShape {
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  double read_bytes = 0;   // per element, all operands together
  double write_bytes = 0;  // per element
  double again_bytes = 0;  // per element, read once more by the thread block that read it before
  // How its kernel divides the work.
  std::int64_t threads = 128;  // of a thread block
  std::int64_t vector = 4;     // elements that a thread takes at once
  double rows_per_block = 1;   // of kernels that keep rows together; 0: rows do not count
  bool rotated = false;        // its operands are not those of the call before
  bool overwrites = false;     // its results take the place of those of the call before
};

Grid pass_kernel(const GpuDeviceSpec& device, const PassFactors& factors, const PassShape& shape);

}  // namespace foretell
