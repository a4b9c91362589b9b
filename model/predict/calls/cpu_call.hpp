// One batched call of a graph on a CPU: mapping to parallel loops, simulation, and what came out as
// Metrics.
#pragma once

#include <vector>

#include "model/base/metrics.hpp"
#include "model/system/kernel_trace.hpp"
#include "model/timing/cpu/cpu_interval.hpp"
#include "model/timing/cpu/cpu_timing.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

struct CpuCall {
  const Graph& graph;  // with the types of `precision` applied
  const PrecisionPolicy& precision;
  const CpuSystemSpec& system;  // what one copy of the network has
  const CpuFactors& factors;
  int threads = 1;
  bool exact = false;         // simulate every loop instead of equal ones once
  bool for_timeline = false;  // say which loops read the results of which
};

struct CpuCallResult {
  Metrics metrics;
  std::vector<KernelRun> loops;
  std::vector<CpuTimePart> parts;  // the same, as their errors are known
};

// Throws UserError for operators and types without a mapping. The caller has checked the memory.
CpuCallResult run_cpu_call(const CpuCall& call);

}  // namespace foretell
