// Runs a small program on the cores of a chip and hands out what each entry did.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "model/components/neuron/neuron_core.hpp"
#include "model/components/shared/simulation_context.hpp"
#include "model/program/program_builder.hpp"
#include "model/testing/instructions.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {

struct Bench {
  NeuronDeviceSpec device = exemplar_inf2().device;
  NeuronCoreScaling scaling;
  int cores = 1;
  Seconds call_overhead;  // 0: the cores start at time 0
};

struct BenchRun {
  std::vector<ProgramExecution> cores;
  bool finished = false;
  std::string blocked;  // of core 0
  std::uint64_t hbm_read = 0;
  std::uint64_t hbm_written = 0;
  Ticks hbm_busy = 0;

  const std::vector<EntryTimes>& engine(Engine engine) const {
    return cores.front().entries[static_cast<std::size_t>(engine)];
  }
  const std::vector<EntryTimes>& ring(Ring ring) const {
    return cores.front().entries[kEngineCount + static_cast<std::size_t>(ring)];
  }
  Ticks busy(Engine engine) const { return cores.front().busy[static_cast<std::size_t>(engine)]; }
  Ticks stalled(Engine engine) const {
    return cores.front().stalled[static_cast<std::size_t>(engine)];
  }
};

inline BenchRun run_bench(const Program& program, const Bench& bench = {}) {
  SimulationContext context;
  NeuronChip chip("chip0", bench.device, bench.scaling, program, bench.cores, bench.call_overhead);
  context.run();
  BenchRun result;
  result.finished = true;
  for (std::size_t c = 0; c < chip.core_count(); ++c) {
    result.cores.push_back(chip.core(c).execution());
    result.finished = result.finished && chip.core(c).finished();
  }
  result.blocked = chip.core(0).describe_blocked();
  result.hbm_read = chip.hbm().read_bytes();
  result.hbm_written = chip.hbm().written_bytes();
  result.hbm_busy = chip.hbm().busy();
  return result;
}

inline Ticks ticks_of(double cycles, Hertz clock) {
  return std::llround(cycles * (kTicksPerSecond / clock.value()));
}

inline Ticks duration(const EntryTimes& execution) { return execution.end - execution.begin; }

}  // namespace foretell
