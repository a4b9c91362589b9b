// One batched call of a graph on a GPU: mapping to kernels, simulation, and what came out as
// Metrics.
#pragma once

#include <string>
#include <vector>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/base/metrics.hpp"
#include "model/mapping/gpu/map_graph.hpp"
#include "model/predict/pipeline.hpp"
#include "model/program/grid.hpp"
#include "model/system/kernel_trace.hpp"
#include "model/timing/shared/chain_interval.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

struct GpuCallSettings : KernelSettings {
  LaunchKind launch = LaunchKind::kGraph;
  bool sustained_clock = false;
  bool exact = false;       // simulate every kernel instead of equal ones once
  bool one_stream = false;  // nothing runs beside anything, whatever the library does
};

struct GpuCall : GpuCallSettings {
  const Graph& graph;  // with the types of `precision` applied
  const PrecisionPolicy& precision;
  const GpuSystemSpec& system;
  const GpuFactors& factors;
  bool for_timeline = false;  // say which kernels read the results of which
  // The clock of each operation in the order of the mapping, as shares of the boost clock; the last
  // one holds for those that follow; empty: 1. What several streams share of L2 has the rate of the
  // highest.
  std::vector<double> clocks = {};
};

struct GpuCallResult {
  Metrics metrics;
  std::vector<KernelRun> kernels;
  std::vector<ChainPart> parts;    // with the intervals of their kernels; without them by "none"
  std::vector<std::string> notes;  // where factors are from, when not fitted on this chip
  std::string power_note;          // where a power limit is not kept, or none holds; else ""
};

// Throws UserError for operators and types without a mapping. The caller has checked the memory.
GpuCallResult run_gpu_call(const GpuCall& call);

// From a GPU of a stage to one of the next, simulated: a message over the links of the two, in the
// fastest protocol of NCCL over NVLink; by facts alone and over PCIe 1 us and the bytes at the rate
// of the links. Between nodes it takes the network: the mean over the stages of a copy.
Seconds handover_time(const GpuSystemSpec& system, const GpuFactors& factors,
                      const StageLayout& layout, Bytes bytes);

}  // namespace foretell
