#include "model/system/gpu_run.hpp"

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/components/gpu_chip.hpp"
#include "model/components/gpu_node.hpp"
#include "model/components/simulation_context.hpp"

namespace foretell {
namespace {

std::vector<Seconds> times_of(GpuChip& chip) {
  std::vector<Seconds> times;
  times.reserve(chip.stream().executions().size());
  for (const GpuProgramExecution& execution : chip.stream().executions()) {
    times.push_back(to_seconds(execution.end - execution.begin));
  }
  return times;
}

// The group that an exchange of the programs needs, and its links.
LinkExchange largest_exchange(const std::vector<GpuProgram>& programs) {
  LinkExchange largest;
  for (const GpuProgram& program : programs) {
    for (const GpuKernel& kernel : program.kernels) {
      if (kernel.exchange.ranks == 0) continue;
      FORETELL_CHECK(largest.ranks == 0 || largest.peak == kernel.exchange.peak,
                     "exchanges over different links");
      largest.ranks = std::max(largest.ranks, kernel.exchange.ranks);
      largest.peak = kernel.exchange.peak;
    }
  }
  return largest;
}

}  // namespace

std::vector<Seconds> simulate_gpu(const GpuDeviceSpec& device,
                                  const std::vector<GpuProgram>& programs, bool every_gpu) {
  if (largest_exchange(programs).ranks > 0) {
    return simulate_gpus(device, programs, !every_gpu).times;
  }
  SimulationContext context;
  GpuChip chip("gpu0", device);
  chip.stream().run(programs);
  context.run();
  return times_of(chip);
}

GpuNodeExecution simulate_gpus(const GpuDeviceSpec& device, const std::vector<GpuProgram>& programs,
                               bool lock_step) {
  const LinkExchange group = largest_exchange(programs);
  FORETELL_CHECK(group.ranks > 0, "programs without an exchange need one GPU");
  SimulationContext context;
  GpuNode node("node", device, group.ranks, group.peak, lock_step);
  node.run(programs);
  context.run();
  GpuNodeExecution execution;
  execution.times = times_of(node.gpu(0));
  for (int g = 0; g < node.gpus(); ++g) {
    execution.links.push_back(
        {node.gpu(g).links().sent_bytes(), node.gpu(g).links().received_bytes()});
  }
  return execution;
}

}  // namespace foretell
