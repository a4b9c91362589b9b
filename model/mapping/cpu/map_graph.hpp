// Graph -> parallel loops of a CPU.
//
// The operators are grouped as on GPUs (model/mapping/shared/fuse.hpp), which is what oneDNN's
// post-ops allow: a product takes bias, activation and residual along. An attention is three
// primitives: a batched product, a softmax, a batched product.
#pragma once

#include <string>
#include <vector>

#include "model/program/loop.hpp"
#include "model/timing/cpu/cpu_timing.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

struct CpuMapping {
  const Graph& graph;  // with the types of `precision` applied
  const PrecisionPolicy& precision;
  const CpuTiming& timing;
};

struct MappedCpuOp {
  OpId main = kNoId;
  std::vector<Loop> loops;
  std::string engine = "cores";  // or "memory"
  Flops flops;
};

// One entry per fused operation, in execution order. UserError for an operator without a mapping
// and a type that the CPU does not multiply.
std::vector<MappedCpuOp> map_to_cpu(const CpuMapping& mapping);

// The policy as CPUs run it: INT8 is multiplied as INT8; where only storage is narrow, CPUs without
// BF16 arithmetic take FP32 in its place. UserError when the products have no unit; it names the
// nearest policy that works there.
PrecisionPolicy precision_on_cpu(const PrecisionPolicy& policy, const CpuDeviceSpec& device);

}  // namespace foretell
