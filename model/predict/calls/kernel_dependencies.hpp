// Which kernels of a call read what others wrote.
#pragma once

#include <vector>

#include "model/mapping/shared/fuse.hpp"
#include "model/system/kernel_trace.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// Fills KernelRun::reads of the kernels of a mapped graph. `counts`: kernels of each fused
// operation, in order. A kernel of an operation follows the one before; the first reads the last of
// those operations that wrote its inputs.
void fill_dependencies(const Graph& graph, const std::vector<std::size_t>& counts,
                       std::vector<KernelRun>& kernels, const FusionRules& rules = {});

}  // namespace foretell
