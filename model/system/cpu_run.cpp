#include "model/system/cpu_run.hpp"

#include <algorithm>

#include "model/components/cpu_chip.hpp"
#include "model/components/simulation_context.hpp"

namespace foretell {

std::vector<Seconds> simulate_cpu(const CpuSystemSpec& system,
                                  const std::vector<CpuProgram>& programs) {
  int threads = 1;
  for (const CpuProgram& program : programs) {
    for (const CpuLoop& loop : program.loops) threads = std::max(threads, loop.threads);
  }
  SimulationContext context;
  CpuChip chip("cpu0", threads, dram_bandwidth(system));
  chip.run(programs);
  context.run();
  std::vector<Seconds> times;
  times.reserve(programs.size());
  for (const CpuProgramExecution& execution : chip.executions()) {
    times.push_back(to_seconds(execution.end - execution.begin));
  }
  return times;
}

}  // namespace foretell
