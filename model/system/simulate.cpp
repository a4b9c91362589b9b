#include "model/system/simulate.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "hw/spec/neuron/group_sizes.hpp"
#include "hw/spec/neuron/tile_sizes.hpp"
#include "model/base/errors.hpp"
#include "model/components/neuron/collective_fabric.hpp"
#include "model/components/neuron/lockstep_network.hpp"
#include "model/components/neuron/neuron_core.hpp"
#include "model/system/machine.hpp"

namespace foretell {

namespace {

struct Call {
  const NeuronSystemSpec& system;
  const NeuronFactors& factors;
  const RunSettings& settings;
  const Program& program;
  NeuronCoreScaling scaling;
};

// A core that works alone keeps its clock; every other one that works takes its part of it.
double clock_derate(const NeuronDeviceSpec& device, const NeuronFactors& factors,
                    const RunSettings& settings) {
  const int working =
      std::max(settings.active_cores, std::min(settings.tensor_parallel, device.cores));
  if (working >= device.cores) return factors.clock_derate;
  return 1 + (factors.clock_derate - 1) * (working - 1) / (device.cores - 1);
}

NeuronCoreScaling scaling_of(const NeuronDeviceSpec& device, const NeuronFactors& factors,
                             const RunSettings& settings) {
  NeuronCoreScaling scaling;
  scaling.engine_time = clock_derate(device, factors, settings) * settings.sdk_engine_time;
  scaling.dma_rate_fraction = factors.dma_rate_fraction;
  scaling.semaphore_latency = to_ticks(factors.semaphore_latency);
  return scaling;
}

Seconds overhead_of(const Call& call) {
  return call_overhead(call.system, call.factors) * call.settings.sdk_call_time;
}

// Chips of a call whose cores all run its program.
class NeuronMachineModel : public Machine {
 public:
  explicit NeuronMachineModel(const Call& call) : call_(call) {}

  std::vector<Executor*> executors() override {
    std::vector<Executor*> all;
    for (const auto& chip : chips_) {
      for (std::size_t c = 0; c < chip->core_count(); ++c) all.push_back(&chip->core(c));
    }
    return all;
  }

  std::string path_of(std::size_t executor) const override {
    return "chip0.core" + std::to_string(executor) + ".";
  }

  Ticks call_begin() const override { return to_ticks(overhead_of(call_)); }

  void add_shared(Execution& execution) const override {
    const Memory& hbm = chips_.front()->hbm();
    execution.hbm_read = hbm.read_bytes();
    execution.hbm_written = hbm.written_bytes();
    execution.hbm_busy = hbm.busy();
    hbm.add_activity("chip0.hbm.", execution.modules);
    if (fabric_ != nullptr) execution.links = fabric_->traffic();
  }

 protected:
  NeuronChip& add_chip(const std::string& name, const NeuronDeviceSpec& device, int cores,
                       CollectiveNetwork* network, int first_rank) {
    chips_.push_back(std::make_unique<NeuronChip>(name.c_str(), device, call_.scaling,
                                                  call_.program, cores, overhead_of(call_), network,
                                                  first_rank));
    return *chips_.back();
  }

  const Call& call_;
  std::unique_ptr<CollectiveFabric> fabric_;
  std::vector<std::unique_ptr<NeuronChip>> chips_;
};

class OneChip final : public NeuronMachineModel {
 public:
  explicit OneChip(const Call& call) : NeuronMachineModel(call) {
    add_chip("chip0", call.system.device_at(0), call.settings.active_cores, nullptr, 0);
  }
};

class EveryRank final : public NeuronMachineModel {
 public:
  explicit EveryRank(const Call& call) : NeuronMachineModel(call) {
    fabric_ = std::make_unique<CollectiveFabric>("collectives", call.system, call.factors,
                                                 call.settings.tensor_parallel);
    const RankPlacement& placement = fabric_->placement();
    for (std::size_t p = 0; p < placement.devices().size(); ++p) {
      const int device = placement.devices()[p];
      NeuronChip& chip = add_chip("chip" + std::to_string(device), call.system.device_at(device),
                                  placement.cores_per_device(), fabric_.get(),
                                  static_cast<int>(p) * placement.cores_per_device());
      fabric_->bind_memory(static_cast<int>(p), chip.hbm());
    }
  }
};

// The other cores of the device do the same at the same time: one core on its share of the HBM.
class LockStepCore final : public NeuronMachineModel {
 public:
  LockStepCore(const Call& call, const NeuronDeviceSpec& share, const CollectiveCostTable& costs)
      : NeuronMachineModel(call), network_("collectives", costs) {
    NeuronChip& chip = add_chip("chip0", share, 1, &network_, 0);
    network_.hbm.bind(chip.hbm().target());
  }

 private:
  LockstepNetwork network_;
};

// Adds what every collective of the program moved over the links.
void add_traffic(const Program& program, CollectiveCosts& costs, std::vector<LinkTraffic>& links) {
  for (const Collective& collective : program.collectives()) {
    const CollectiveExecution& execution = costs.of(collective);
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

Execution simulate_lockstep(const Call& call) {
  const int ranks = call.settings.tensor_parallel;
  CollectiveCosts own(call.system, call.factors, ranks);
  CollectiveCosts& costs = call.settings.costs == nullptr ? own : *call.settings.costs;
  FORETELL_CHECK(costs.ranks() == ranks, "costs of another group");
  std::vector<LinkTraffic> links;
  add_traffic(call.program, costs, links);

  const int cores = std::min(ranks, call.system.device.cores);
  NeuronDeviceSpec device = call.system.device;
  device.hbm.bandwidth = device.hbm.bandwidth / cores;
  Execution result = run_on_machine(
      call.program, [&] { return std::make_unique<LockStepCore>(call, device, costs.table()); });
  result.hbm_read *= static_cast<std::uint64_t>(cores);
  result.hbm_written *= static_cast<std::uint64_t>(cores);
  result.links = std::move(links);
  return result;
}

}  // namespace

ProgramLimits limits_of(const NeuronDeviceSpec& device) {
  const NeuronCoreSpec& core = device.core;
  ProgramLimits limits;
  const TileSizes sizes = tile_sizes(core_shape(core));
  limits.partitions = static_cast<std::uint32_t>(sizes.rows);
  limits.contraction_rows = static_cast<std::uint32_t>(core.tensor.rows);
  limits.stationary_columns = static_cast<std::uint32_t>(core.tensor.columns);
  limits.moving_columns = static_cast<std::uint32_t>(core.tensor.max_moving);
  limits.psum_banks = static_cast<std::uint32_t>(core.psum.banks);
  limits.psum_bank_columns = static_cast<std::uint32_t>(sizes.bank_columns);
  limits.psum_free_elements = limits.psum_bank_columns * limits.psum_banks;
  limits.sbuf_free_elements = static_cast<std::uint32_t>(core.instruction.max_elements);
  limits.bn_stats_elements = static_cast<std::uint32_t>(core.instruction.max_statistics);
  limits.hbm_bytes = static_cast<std::uint64_t>(device.hbm.capacity.value());
  return limits;
}

Seconds call_overhead(const NeuronSystemSpec& system, const NeuronFactors& factors) {
  return factors.call_overhead > Seconds(0) ? factors.call_overhead
                                            : system.device.host.call_overhead;
}

Execution simulate(const NeuronSystemSpec& system, const NeuronFactors& factors,
                   const RunSettings& settings, const Program& program) {
  if (!settings.is_valid) validate(program, limits_of(system.device));
  require_group_size(system, settings.tensor_parallel);
  const Call call{system, factors, settings, program, scaling_of(system.device, factors, settings)};
  if (settings.tensor_parallel > 1) {
    for (const Collective& collective : program.collectives())
      require_groups(system, collective, settings.tensor_parallel);
    const bool alike = system.different.empty();
    return settings.every_rank || !alike
               ? run_on_machine(program, [&] { return std::make_unique<EveryRank>(call); })
               : simulate_lockstep(call);
  }
  if (!program.collectives().empty()) {
    throw UserError("program '" + program.name +
                    "' has collectives; they need a tensor-parallel group of at least 2 cores");
  }
  return run_on_machine(program, [&] { return std::make_unique<OneChip>(call); });
}

}  // namespace foretell
