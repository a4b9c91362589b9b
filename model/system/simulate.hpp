// Runs a Program on a simulated chip, or on all chips of a tensor-parallel group.
#pragma once

#include <vector>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/components/shared/execution.hpp"
#include "model/program/program.hpp"
#include "model/system/collective_run.hpp"
#include "model/system/machine.hpp"

namespace foretell {

struct RunSettings {
  int active_cores = 1;        // data parallel copies on the chip
  double sdk_engine_time = 1;  // compiler maturity, see NeuronFactors::sdk_engine_time
  int tensor_parallel = 1;     // cores that run the program together, see Program::collectives
  // Execute every rank of the group, as is also done where its devices differ. Otherwise one core
  // stands for all, as they run in lock step, and a collective takes as long as it takes alone on
  // the whole topology.
  bool every_rank = false;
  // Collectives found for this system, factors and group before; may be null.
  CollectiveCosts* costs = nullptr;
  bool is_valid = false;     // the program has passed validate() with the limits of the device
  double sdk_call_time = 1;  // of the host, see NeuronFactors::sdk_call_time
};

// Simulates one call of `program` on a device of `system`, or on the devices of its group. Throws
// UserError when the program violates a limit of the device or deadlocks (the message names the
// instruction), when the vendor allows no such group, or when a program with collectives has none.
Execution simulate(const NeuronSystemSpec& system, const NeuronFactors& factors,
                   const RunSettings& settings, const Program& program);

// Limits of the device as ProgramLimits.
ProgramLimits limits_of(const NeuronDeviceSpec& device);

// Host overhead of a call: the fitted one, or the published stand-in where no factor is given.
Seconds call_overhead(const NeuronSystemSpec& system, const NeuronFactors& factors);

}  // namespace foretell
