// Networks that ship with the project, ready to be mapped.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/import/workload.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

// One forward pass in the types of a policy.
inline Graph network(const std::string& name, std::int64_t batch, std::int64_t seq_len,
                     const std::string& precision = "bf16-matmul") {
  Graph graph = build_graph(WorkloadLibrary().load(name), {batch, seq_len});
  apply_precision(find_precision(precision), &graph);
  return graph;
}

}  // namespace foretell
