// One batched call of a graph on a Neuron device: mapping, simulation, replay of equal layers, and
// what came out as Metrics.
#pragma once

#include <memory>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/base/metrics.hpp"
#include "model/program/program.hpp"
#include "model/system/simulate.hpp"
#include "model/system/trace.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

struct NeuronCall {
  const Graph& graph;  // with the types of `precision` applied
  const PrecisionPolicy& precision;
  const NeuronSystemSpec& system;
  const NeuronFactors& factors;
  int copies_per_device = 1;         // cores of a device that each run a copy
  double sdk_engine_time = 1;        // see NeuronFactors::sdk_engine_time
  double sdk_call_time = 1;          // see NeuronFactors::sdk_call_time
  int tensor_parallel = 1;           // cores that share this copy; the graph is the share of one
  double window_share = 1;           // of the prefetch window
  bool operator_loops = false;       // see SchedulingParameters
  bool exact = false;                // execute every layer instead of replaying equal ones
  bool for_timeline = false;         // execute every layer of one rank, and fill `shown`
  CollectiveCosts* costs = nullptr;  // found before for the same system, factors and group
};

struct NeuronCallResult {
  Metrics metrics;
  // What was executed; with replay, fewer layers than the graph has.
  std::shared_ptr<const Program> program;
  Execution execution;
  int replayed_layers = 0;
  TraceDetails shown;  // only with NeuronCall::for_timeline
};

// Throws UserError for operators and types without a mapping. The caller has checked the memory.
NeuronCallResult run_neuron_call(const NeuronCall& call);

}  // namespace foretell
