#include "model/system/machine.hpp"

#include <algorithm>
#include <utility>

#include "model/base/errors.hpp"
#include "model/components/cpu/cpu_chip.hpp"
#include "model/components/gpu/gpu_chip.hpp"
#include "model/components/gpu/gpu_node.hpp"
#include "model/components/shared/simulation_context.hpp"
#include "model/timing/gpu/occupancy.hpp"

namespace foretell {
namespace {

std::size_t streams_of(const Program& program, StreamKind kind) {
  return static_cast<std::size_t>(
      std::count_if(program.streams.begin(), program.streams.end(),
                    [kind](const Stream& stream) { return stream.kind() == kind; }));
}

// Two of them would share cores or the order of collectives, which modules do not model yet.
void require_one_stream(const Program& program, StreamKind kind) {
  const std::size_t count = streams_of(program, kind);
  if (count <= 1) return;
  throw UserError("program '" + program.name + "' has " + std::to_string(count) + " streams of " +
                  std::string(to_string(kind)) + "; one is simulated: put them in one stream");
}

// Thread blocks that state what they hold of an SM: as many as `per_sm` says must fit.
void require_places(const GpuDeviceSpec& device, const Program& program) {
  for (std::size_t s = 0; s < program.streams.size(); ++s) {
    if (program.streams[s].kind() != StreamKind::kGrids) continue;
    const std::vector<Grid>& grids = program.entries<Grid>(s);
    for (std::size_t i = 0; i < grids.size(); ++i) {
      const BlockNeeds& needs = grids[i].needs;
      if (!needs.stated()) continue;
      const std::string place = program.place(s, i);
      const int per_thread = (needs.registers + needs.threads - 1) / needs.threads;
      const int fitting =
          ctas_per_sm(device, {needs.threads, per_thread, needs.shared_memory}, place);
      if (grids[i].ctas_per_sm <= fitting) continue;
      throw EntryError(s, i,
                       place + ": per_sm is " + std::to_string(grids[i].ctas_per_sm) +
                           "; by its threads, registers and shared_memory an SM of " + device.name +
                           " holds " + std::to_string(fitting) + " (device.sm)");
    }
  }
}

// The group that an exchange of the program needs, and its links and network.
LinkExchange largest_exchange(const Program& program) {
  LinkExchange largest;
  const auto join = [&program](BytesPerSecond& known, BytesPerSecond peak) {
    const bool both = known > BytesPerSecond(0) && peak > BytesPerSecond(0);
    if (both && !(known == peak))
      throw UserError("program '" + program.name + "' has collectives over different links");
    known = std::max(known, peak);
  };
  for (const Collective& collective : program.collectives()) {
    const LinkExchange& exchange = collective.exchange;
    largest.ranks = std::max(largest.ranks, exchange.ranks);
    join(largest.peak, exchange.peak);
    join(largest.network, exchange.network);
  }
  return largest;
}

// Events of modules are heard once the simulation runs.
void start_with_simulation(Executor& executor) {
  sc_core::sc_spawn_options options;
  options.spawn_method();
  sc_core::sc_spawn([&executor] { executor.start(); }, sc_core::sc_gen_unique_name("start"),
                    &options);
}

class GpuMachineModel final : public Machine {
 public:
  GpuMachineModel(const GpuMachine& machine, const Program& program) {
    const LinkExchange group = largest_exchange(program);
    if (group.ranks == 0) {
      alone_ = std::make_unique<GpuChip>("gpu0", machine.device, program, CollectiveSeat{},
                                         LinkPeaks{}, machine.exact);
    } else {
      node_ = std::make_unique<GpuNode>("node", machine.device, group.ranks,
                                        LinkPeaks{group.peak, group.network}, program, idle_,
                                        !machine.every_gpu, machine.exact);
    }
    running_ = machine.every_gpu && node_ != nullptr ? node_->gpus() : 1;
    for (int g = 0; g < running_; ++g) start_with_simulation(gpu(g));
  }

  std::vector<Executor*> executors() override {
    std::vector<Executor*> all;
    for (int g = 0; g < running_; ++g) all.push_back(&gpu(g));
    return all;
  }

  std::string path_of(std::size_t executor) const override {
    return "gpu" + std::to_string(executor) + ".";
  }

  void add_shared(Execution& execution) const override {
    execution.hbm_read = gpu(0).hbm().read_bytes();
    execution.hbm_busy = gpu(0).hbm().busy();
    gpu(0).hbm().add_activity("gpu0.hbm.", execution.modules);
    if (node_ == nullptr) return;
    for (int g = 0; g < node_->gpus(); ++g) {
      execution.links.push_back({g, -1, node_->gpu(g).links().sent_bytes(), 0});
      execution.links.push_back({-1, g, node_->gpu(g).links().received_bytes(), 0});
    }
  }

 private:
  GpuChip& gpu(int rank) const { return node_ == nullptr ? *alone_ : node_->gpu(rank); }

  Program idle_;
  std::unique_ptr<GpuChip> alone_;
  std::unique_ptr<GpuNode> node_;
  int running_ = 1;
};

class CpuMachineModel final : public Machine {
 public:
  CpuMachineModel(const CpuMachine& machine, const Program& program)
      : chip_("cpu0", threads_of(program), dram_bandwidth(machine.system),
              machine.system.device.dram.model, program, machine.exact) {
    start_with_simulation(chip_);
  }

  std::vector<Executor*> executors() override { return {&chip_}; }
  std::string path_of(std::size_t /*executor*/) const override { return "cpu0."; }

 private:
  static int threads_of(const Program& program) {
    int threads = 1;
    for (const Stream& stream : program.streams) {
      const auto* loops = std::get_if<std::vector<Loop>>(&stream.work);
      if (loops == nullptr) continue;
      for (const Loop& loop : *loops) threads = std::max(threads, loop.threads);
    }
    return threads;
  }

  CpuChip chip_;
};

}  // namespace

Execution run_on_machine(const Program& program,
                         const std::function<std::unique_ptr<Machine>()>& elaborate) {
  SimulationContext context;
  const std::unique_ptr<Machine> machine = elaborate();
  context.run();
  Execution result;
  result.call_begin = machine->call_begin();
  result.end = result.call_begin;
  const std::vector<Executor*> executors = machine->executors();
  for (std::size_t number = 0; number < executors.size(); ++number) {
    const Executor* executor = executors[number];
    if (!executor->finished()) {
      std::string path = machine->path_of(number);
      path.pop_back();  // the dot
      throw UserError("program '" + program.name + "' deadlocks on " + path + ":" +
                      executor->describe_blocked() +
                      "\n  one of them has to begin first: a `take` less, or a semaphore that "
                      "holds something from the start (semaphores)");
    }
    result.end = std::max(result.end, executor->execution().end);
    executor->add_activity(machine->path_of(number), result.modules);
  }
  result.instructions = program.entry_count() * executors.size();
  machine->add_shared(result);
  result.cores.reserve(executors.size());
  for (Executor* executor : executors) result.cores.push_back(executor->take_execution());
  result.events = sc_core::sc_delta_count();
  return result;
}

Execution simulate(const GpuMachine& machine, const Program& program) {
  validate(program, {});
  require_one_stream(program, StreamKind::kCollectives);
  require_places(machine.device, program);
  return run_on_machine(program,
                        [&] { return std::make_unique<GpuMachineModel>(machine, program); });
}

Execution simulate(const CpuMachine& machine, const Program& program) {
  validate(program, {});
  require_one_stream(program, StreamKind::kLoops);
  return run_on_machine(program,
                        [&] { return std::make_unique<CpuMachineModel>(machine, program); });
}

}  // namespace foretell
