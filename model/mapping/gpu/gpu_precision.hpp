// Which data types of a policy a GPU has pipes for, and what libraries on GPUs make of it.
#pragma once

#include <string>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

// The policy as GPUs run it: INT8 is multiplied as INT8 on the matrix pipe, and where only weights
// are narrow or a type is only stored, chips without BF16 take FP16 in its place. UserError when
// the chip has no pipe for the products; it names the nearest policy that works there.
PrecisionPolicy precision_on_gpu(const PrecisionPolicy& policy, const GpuDeviceSpec& device);

// What a library makes of it that takes the fastest kernel of each type which it may use: products
// in 8 bits run in 16 where the chip has a matrix pipe for these alone. The same policy elsewhere.
PrecisionPolicy fastest_on_gpu(const PrecisionPolicy& policy, const GpuDeviceSpec& device);

// What a network runs in by default: the first that the chip has of BF16, FP16 and FP32.
std::string default_dtype_on_gpu(const GpuDeviceSpec& device);

}  // namespace foretell
