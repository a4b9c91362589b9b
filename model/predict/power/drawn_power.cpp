#include "model/predict/power/drawn_power.hpp"

#include <map>
#include <string_view>
#include <utility>

#include "model/predict/power/power_windows.hpp"
#include "model/timing/neuron/instruction_work.hpp"

namespace foretell {
namespace {

class EntryPower {
 public:
  EntryPower(const Execution& execution, const DeviceEnergy& energy)
      : execution_(execution), energy_(energy) {
    power_.idle = idle_power(1, energy.facts);
  }

  // `count` adds the work of an entry.
  template <class Entry, class Count>
  void add(std::size_t stream, const std::vector<Entry>& entries, const Count& count) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i].op < 0) continue;
      EnergyWork work;
      count(entries[i], work);
      const Joules joules = total_energy(energy_parts(work, Seconds(0), 1, energy_));
      if (!(joules > Joules(0))) continue;
      for (const ProgramExecution& core : execution_.cores) {
        const EntryTimes& times = core.entries[stream][i];
        power_.spans.push_back({times.begin, times.end, joules});
      }
    }
  }

  TracePower take() { return std::move(power_); }

 private:
  const Execution& execution_;
  const DeviceEnergy& energy_;
  TracePower power_;
};

}  // namespace

void set_kernel_power(const Metrics& metrics, const DeviceEnergy& energy, Watts idle, Watts most,
                      std::vector<KernelRun>& kernels) {
  std::map<std::string_view, Seconds> time;  // by operator
  for (const KernelRun& run : kernels) time[run.op] += run.duration - run.launch;
  std::map<std::string_view, Watts> power;
  const std::vector<double> shares = shares_within(metrics, energy, idle, most);
  for (const OperatorMetrics& op : metrics.operators) {
    const auto found = time.find(op.name);
    if (found == time.end() || !(found->second > Seconds(0))) continue;
    const Joules joules = added_energy(op.work, op.duration, op.clock, energy);
    power[op.name] = joules / found->second * shares.at(static_cast<std::size_t>(op.window));
  }
  for (KernelRun& run : kernels) {
    run.idle_power = idle;
    const auto found = power.find(run.op);
    if (found != power.end()) run.power = found->second;
  }
}

TracePower entry_power(const Program& program, const Execution& execution,
                       const DeviceEnergy& energy) {
  EntryPower power(execution, energy);
  for (std::size_t s = 0; s < program.streams.size(); ++s) {
    const StreamKind kind = program.streams[s].kind();
    if (kind == StreamKind::kInstructions) {
      power.add(s, program.entries<Instruction>(s), [s](const Instruction& one, EnergyWork& work) {
        count_instruction(static_cast<Engine>(s), one, work);
      });
    } else if (kind == StreamKind::kTransfers) {
      power.add(s, program.entries<Transfer>(s), count_transfer);
    } else if (kind == StreamKind::kCollectives) {
      power.add(s, program.entries<Collective>(s), count_collective);
    }
  }
  return power.take();
}

}  // namespace foretell
