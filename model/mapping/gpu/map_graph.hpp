// Graph -> kernels of one GPU.
#pragma once

#include <vector>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/mapping/gpu/mapped_op.hpp"
#include "model/mapping/shared/fuse.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

// How the kernels of a network are made.
struct KernelSettings {
  int rotated_copies = 1;  // of the network, each with its own weights, that are called in turn
  bool heads_share_keys = true;   // in kernels for tokens, by release
  bool chunks_share_keys = true;  // … where keys are seen in chunks
  FusionRules fusion = {};        // of the library
};

struct GpuMapping : KernelSettings {
  const Graph& graph;  // with the types of `precision` applied
  const PrecisionPolicy& precision;
  const GpuSystemSpec& system;
  const GpuFactors& factors;
  double clock_share = 1;  // of the boost clock, where the matrix pipe is always at work
};

// One entry per fused operation, in execution order. UserError for an operator without a mapping
// and a type without a pipe.
std::vector<MappedOp> map_to_gpu(const GpuMapping& mapping);

}  // namespace foretell
