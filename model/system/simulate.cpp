#include "model/system/simulate.hpp"

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/components/neuron_core.hpp"
#include "model/components/simulation_context.hpp"

namespace foretell {

ProgramLimits limits_of(const NeuronDeviceSpec& device) {
  const NeuronCoreSpec& core = device.core;
  ProgramLimits limits;
  limits.partitions = static_cast<std::uint32_t>(core.sbuf.partitions);
  limits.stationary_columns = static_cast<std::uint32_t>(core.tensor.columns);
  limits.moving_columns = static_cast<std::uint32_t>(core.tensor.max_moving);
  limits.psum_banks = static_cast<std::uint32_t>(core.psum.banks);
  const double bank_bytes = core.psum.capacity.value() / core.psum.partitions / core.psum.banks;
  limits.psum_bank_columns =
      static_cast<std::uint32_t>(bank_bytes / element_bytes(ElementType::kFp32));
  limits.hbm_bytes = static_cast<std::uint64_t>(device.hbm.capacity.value());
  return limits;
}

Seconds call_overhead(const NeuronSystemSpec& system, const NeuronFactors& factors) {
  return factors.call_overhead > Seconds(0) ? factors.call_overhead
                                            : system.device.host.call_overhead;
}

ChipExecution simulate(const NeuronSystemSpec& system, const NeuronFactors& factors,
                       const RunSettings& settings, const Program& program) {
  validate(program, limits_of(system.device));
  if (!program.collectives.empty() && settings.tensor_parallel < 2) {
    throw UserError("program '" + program.name +
                    "' has collectives; they need a tensor-parallel "
                    "group of at least 2 cores");
  }
  NeuronCoreScaling scaling;
  scaling.engine_time = factors.clock_derate * settings.sdk_engine_time;
  scaling.dma_rate_fraction = factors.dma_rate_fraction;
  scaling.semaphore_latency = to_ticks(factors.semaphore_latency);

  SimulationContext context;
  const Seconds overhead = call_overhead(system, factors);
  NeuronChip chip("chip0", system.device, scaling, program, settings.active_cores, overhead);
  context.run();

  ChipExecution result;
  result.call_begin = to_ticks(overhead);
  for (std::size_t c = 0; c < chip.core_count(); ++c) {
    if (!chip.core(c).finished()) {
      throw UserError("program '" + program.name + "' deadlocks on core " + std::to_string(c) +
                      ":" + chip.core(c).describe_blocked());
    }
    result.cores.push_back(chip.core(c).execution());
    result.end = std::max(result.end, result.cores.back().end);
  }
  result.end = std::max(result.end, result.call_begin);
  result.hbm_read = chip.hbm().read_bytes();
  result.hbm_written = chip.hbm().written_bytes();
  result.hbm_busy = chip.hbm().busy();
  result.instructions =
      (program.instruction_count() + program.transfer_count()) * chip.core_count();
  result.events = sc_core::sc_delta_count();
  return result;
}

}  // namespace foretell
