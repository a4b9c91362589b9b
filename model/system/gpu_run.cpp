#include "model/system/gpu_run.hpp"

#include "model/program/device_streams.hpp"
#include "model/system/machine.hpp"

namespace foretell {

std::vector<Seconds> simulate_gpu(const GpuDeviceSpec& device,
                                  const std::vector<GridSequence>& programs, bool every_gpu) {
  return simulate_gpus(device, programs, !every_gpu).times;
}

GpuNodeExecution simulate_gpus(const GpuDeviceSpec& device,
                               const std::vector<GridSequence>& programs, bool lock_step) {
  ProgramBuilder builder("rows", gpu_streams(false));
  struct Place {
    std::size_t stream;
    std::size_t index;
  };
  std::vector<std::vector<Place>> places;
  Deps before;
  for (const GridSequence& program : programs) {
    places.emplace_back();
    for (const Grid& grid : program.kernels) {
      const std::size_t stream = grid.exchange.ranks > 0 ? kGpuCollectives : kGridStream;
      places.back().push_back({stream, builder.queue_length(static_cast<int>(stream))});
      before = emit_grid(builder, grid, before);
    }
  }
  const Program program = std::move(builder).finish();
  const Execution execution = simulate(GpuMachine{device, !lock_step}, program);
  const auto& entries = execution.cores.front().entries;
  GpuNodeExecution result;
  for (const std::vector<Place>& row : places) {
    const EntryTimes& first = entries[row.front().stream][row.front().index];
    const EntryTimes& last = entries[row.back().stream][row.back().index];
    result.times.push_back(to_seconds(last.end - first.begin));
  }
  for (std::size_t l = 0; l + 1 < execution.links.size(); l += 2) {
    result.links.push_back({execution.links[l].bytes, execution.links[l + 1].bytes});
  }
  return result;
}

}  // namespace foretell
