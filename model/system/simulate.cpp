#include "model/system/simulate.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "hw/spec/group_sizes.hpp"
#include "model/base/errors.hpp"
#include "model/components/collective_fabric.hpp"
#include "model/components/lockstep_network.hpp"
#include "model/components/neuron_core.hpp"
#include "model/components/simulation_context.hpp"

namespace foretell {

namespace {

struct Call {
  const NeuronSystemSpec& system;
  const NeuronFactors& factors;
  const RunSettings& settings;
  const Program& program;
  NeuronCoreScaling scaling;
};

NeuronCoreScaling scaling_of(const NeuronFactors& factors, const RunSettings& settings) {
  NeuronCoreScaling scaling;
  scaling.engine_time = factors.clock_derate * settings.sdk_engine_time;
  scaling.dma_rate_fraction = factors.dma_rate_fraction;
  scaling.semaphore_latency = to_ticks(factors.semaphore_latency);
  return scaling;
}

ChipExecution collect(const Call& call, const std::vector<const NeuronChip*>& chips) {
  ChipExecution result;
  result.call_begin = to_ticks(call_overhead(call.system, call.factors));
  result.end = result.call_begin;
  for (const NeuronChip* chip : chips) {
    for (std::size_t c = 0; c < chip->core_count(); ++c) {
      const NeuronCore& core = chip->core(c);
      if (!core.finished()) {
        throw UserError("program '" + call.program.name + "' deadlocks on core " +
                        std::to_string(result.cores.size()) + ":" + core.describe_blocked());
      }
      result.cores.push_back(core.execution());
      result.end = std::max(result.end, core.execution().end);
    }
  }
  const Hbm& hbm = chips.front()->hbm();
  result.hbm_read = hbm.read_bytes();
  result.hbm_written = hbm.written_bytes();
  result.hbm_busy = hbm.busy();
  result.instructions = (call.program.instruction_count() + call.program.transfer_count() +
                         call.program.collectives.size()) *
                        result.cores.size();
  result.events = sc_core::sc_delta_count();
  return result;
}

ChipExecution simulate_every_rank(const Call& call) {
  SimulationContext context;
  CollectiveFabric fabric("collectives", call.system, call.factors, call.settings.tensor_parallel);
  const RankPlacement& placement = fabric.placement();
  std::vector<std::unique_ptr<NeuronChip>> chips;
  std::vector<const NeuronChip*> finished;
  for (std::size_t p = 0; p < placement.devices().size(); ++p) {
    const std::string name = "chip" + std::to_string(placement.devices()[p]);
    chips.push_back(std::make_unique<NeuronChip>(
        name.c_str(), call.system.device_at(placement.devices()[p]), call.scaling, call.program,
        placement.cores_per_device(), call_overhead(call.system, call.factors), &fabric,
        static_cast<int>(p) * placement.cores_per_device()));
    fabric.bind_memory(static_cast<int>(p), chips.back()->hbm());
    finished.push_back(chips.back().get());
  }
  context.run();
  ChipExecution result = collect(call, finished);
  result.links = fabric.traffic();
  return result;
}

// Adds what every collective of the program moved over the links.
void add_traffic(const Program& program, CollectiveCosts& costs, std::vector<LinkTraffic>& links) {
  for (const Collective& collective : program.collectives) {
    const CollectiveExecution& execution = costs.of(collective.kind, collective.bytes);
    if (links.empty()) {
      links = execution.links;
      continue;
    }
    for (std::size_t l = 0; l < links.size(); ++l) {
      links[l].bytes += execution.links[l].bytes;
      links[l].busy += execution.links[l].busy;
    }
  }
}

// The other cores of the device do the same at the same time: one core on its share of the HBM.
ChipExecution simulate_lockstep(const Call& call) {
  const int ranks = call.settings.tensor_parallel;
  CollectiveCosts own(call.system, call.factors, ranks);
  CollectiveCosts& costs = call.settings.costs == nullptr ? own : *call.settings.costs;
  FORETELL_CHECK(costs.ranks() == ranks, "costs of another group");
  std::vector<LinkTraffic> links;
  add_traffic(call.program, costs, links);

  const int cores = std::min(ranks, call.system.device.cores);
  NeuronDeviceSpec device = call.system.device;
  device.hbm.bandwidth = device.hbm.bandwidth / cores;
  SimulationContext context;
  LockstepNetwork network("collectives", costs.table());
  NeuronChip chip("chip0", device, call.scaling, call.program, 1,
                  call_overhead(call.system, call.factors), &network);
  network.hbm.bind(chip.hbm().socket);
  context.run();
  ChipExecution result = collect(call, {&chip});
  result.hbm_read *= static_cast<std::uint64_t>(cores);
  result.hbm_written *= static_cast<std::uint64_t>(cores);
  result.links = std::move(links);
  return result;
}

}  // namespace

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
  require_group_size(system, settings.tensor_parallel);
  const Call call{system, factors, settings, program, scaling_of(factors, settings)};
  if (settings.tensor_parallel > 1) {
    const bool alike = system.different.empty();
    return settings.every_rank || !alike ? simulate_every_rank(call) : simulate_lockstep(call);
  }
  if (!program.collectives.empty()) {
    throw UserError("program '" + program.name +
                    "' has collectives; they need a tensor-parallel group of at least 2 cores");
  }
  SimulationContext context;
  NeuronChip chip("chip0", system.device_at(0), call.scaling, program, settings.active_cores,
                  call_overhead(system, factors));
  context.run();
  return collect(call, {&chip});
}

}  // namespace foretell
