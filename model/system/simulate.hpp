// Runs a Program on a simulated chip.
#pragma once

#include <vector>

#include "hw/spec/neuron_spec.hpp"
#include "model/components/execution.hpp"
#include "model/program/program.hpp"

namespace foretell {

struct ChipExecution {
  std::vector<CoreExecution> cores;  // times count from the call; the host's overhead is part
  Ticks call_begin = 0;              // the cores start
  Ticks end = 0;                     // the last core is done
  std::uint64_t hbm_read = 0;        // bytes
  std::uint64_t hbm_written = 0;
  Ticks hbm_busy = 0;
  std::uint64_t instructions = 0;  // instructions and transfers executed
  std::uint64_t events = 0;        // SystemC activations
};

struct RunSettings {
  int active_cores = 1;        // data parallel copies on the chip
  double sdk_engine_time = 1;  // compiler maturity, see NeuronFactors::sdk_engine_time
  int tensor_parallel = 1;     // cores that run the program together, see Program::collectives
};

// Simulates one call of `program` on a device of `system`. Throws UserError when the program
// violates a limit of the device or deadlocks; the message names the instruction.
ChipExecution simulate(const NeuronSystemSpec& system, const NeuronFactors& factors,
                       const RunSettings& settings, const Program& program);

// Limits of the device as ProgramLimits.
ProgramLimits limits_of(const NeuronDeviceSpec& device);

// Host overhead of a call: the fitted one, or the published stand-in where no factor is given.
Seconds call_overhead(const NeuronSystemSpec& system, const NeuronFactors& factors);

}  // namespace foretell
