#include "model/system/gpu_run.hpp"

#include "model/components/gpu_chip.hpp"
#include "model/components/simulation_context.hpp"

namespace foretell {

std::vector<Seconds> simulate_gpu(const GpuDeviceSpec& device,
                                  const std::vector<GpuProgram>& programs) {
  SimulationContext context;
  GpuChip chip("gpu0", device);
  chip.stream().run(programs);
  context.run();
  std::vector<Seconds> times;
  times.reserve(programs.size());
  for (const GpuProgramExecution& execution : chip.stream().executions()) {
    times.push_back(to_seconds(execution.end - execution.begin));
  }
  return times;
}

}  // namespace foretell
