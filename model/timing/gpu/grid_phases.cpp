#include "model/timing/gpu/grid_phases.hpp"

#include <algorithm>
#include <cmath>

#include "model/timing/gpu/cta_schedule.hpp"
#include "model/timing/shared/closed_network.hpp"

namespace foretell {
namespace {

constexpr double kFemto = 1e15;

double& share_of(GridDemand& demand, GridResource resource) {
  return demand[static_cast<std::size_t>(resource)];
}

// `taken`: of its own places.
void hold_places(double taken, const BlockShares& shares, GridDemand& demand) {
  share_of(demand, GridResource::kSms) = taken * shares.places;
  share_of(demand, GridResource::kThreads) = taken * shares.threads;
  share_of(demand, GridResource::kRegisters) = taken * shares.registers;
  share_of(demand, GridResource::kSharedMemory) = taken * shares.shared_memory;
}

// A resource that works this long in all gets the same share of every phase after the first byte.
double even_share(double work, double time) { return time > 0 ? std::min(1.0, work / time) : 0; }

double held(Bytes bytes, BytesPerSecond rate) {
  return bytes > Bytes(0) ? (bytes / rate).value() * kFemto : 0;
}

}  // namespace

GridWaves grid_waves(const Grid& grid, int sms) {
  GridWaves waves;
  if (grid.ctas.empty()) return waves;
  const std::int64_t places = static_cast<std::int64_t>(sms) * grid.ctas_per_sm;
  CtaSchedule schedule(grid.ctas, places);
  while (!schedule.all_issued()) schedule.step();
  waves.makespan = schedule.makespan();
  waves.drain = schedule.drain();
  waves.busy = static_cast<double>(schedule.busy()) / static_cast<double>(places);
  return waves;
}

GridMemory stated_memory(const Grid& grid) {
  GridMemory memory{0, held(grid.dram_bytes, grid.dram_rate), held(grid.l2_bytes, grid.l2_rate)};
  memory.last_byte = grid.memory_latency.value() * kFemto + std::max(memory.dram, memory.l2);
  return memory;
}

double grid_body(const Grid& grid, const GridWaves& waves, const GridMemory& memory) {
  return closed_network_time(static_cast<double>(waves.makespan), memory.last_byte,
                             grid.stages_ahead);
}

double grid_drain(const Grid& grid, const GridWaves& waves, const GridMemory& memory) {
  if (waves.makespan == 0) return 0;
  const double left = static_cast<double>(waves.makespan - waves.drain);
  return grid_body(grid, waves, memory) * left / static_cast<double>(waves.makespan);
}

BlockShares block_shares(const Grid& grid, const GpuSmSpec& sm) {
  const BlockNeeds& needs = grid.needs;
  if (!needs.stated()) return {};
  const double blocks = grid.ctas_per_sm;
  return {blocks / sm.max_ctas, blocks * needs.threads / sm.max_threads,
          blocks * needs.registers / sm.registers,
          blocks * (needs.shared_memory / sm.shared_memory)};
}

std::vector<GridPhase> grid_phases(const Grid& grid, const GridWaves& waves,
                                   const GridMemory& memory, double total,
                                   const BlockShares& shares) {
  const double both = grid_body(grid, waves, memory);
  const double tail = grid.tail.value() * kFemto;
  if (!(both + tail > 0) || !(total > 0)) return {};
  const double scale = total / (both + tail);
  const double latency = std::min(both, grid.memory_latency.value() * kFemto);
  const double makespan = static_cast<double>(waves.makespan);
  // Waves are as much longer as the bytes hold them up.
  const double drain = makespan > 0 ? static_cast<double>(waves.drain) * both / makespan : both;
  const double left = makespan - static_cast<double>(waves.drain);
  const double draining =
      left > 0 ? std::clamp((waves.busy - static_cast<double>(waves.drain)) / left, 0.0, 1.0) : 0;
  GridDemand served{};
  const double serving = (both - latency) * scale;
  share_of(served, GridResource::kDram) = even_share(memory.dram, serving);
  share_of(served, GridResource::kL2) = even_share(memory.l2, serving);
  share_of(served, GridResource::kTensorPipe) =
      even_share(grid.busy[WorkUnit::kTensorPipe].value() * kFemto, both * scale);
  share_of(served, GridResource::kVectorPipe) =
      even_share(grid.busy[WorkUnit::kVectorPipe].value() * kFemto, both * scale);
  share_of(served, GridResource::kSpecial) =
      even_share(grid.busy[WorkUnit::kSpecialFunctions].value() * kFemto, both * scale);
  std::vector<GridPhase> phases;
  const auto add = [&](double begin, double end) {
    if (!(end > begin)) return;
    GridPhase phase{(end - begin) * scale, served};
    if (end <= latency) {
      share_of(phase.demand, GridResource::kDram) = 0;
      share_of(phase.demand, GridResource::kL2) = 0;
    }
    if (makespan > 0) hold_places(end <= drain ? 1 : draining, shares, phase.demand);
    phases.push_back(phase);
  };
  const double early = std::min(latency, drain);
  const double late = std::max(latency, drain);
  add(0, early);
  add(early, late);
  add(late, both);
  if (tail > 0) {
    GridPhase phase{tail * scale, {}, false};
    if (makespan > 0) hold_places(1, shares, phase.demand);
    phases.push_back(phase);
  }
  return phases;
}

GridDemand demand_beside(const GridPhase& phase, double held, const Grid& grid,
                         const GridWaves& waves, const GridMemory& memory) {
  GridDemand demand = phase.demand;
  double most = 0;
  for (const GridResource places : kPlaceResources) most = std::max(most, share_of(demand, places));
  const double left = most > 0 ? (1 - held) / most : 1;
  if (!phase.feeds || left >= 1) return demand;
  GridWaves fewer = waves;
  fewer.makespan = std::llround(static_cast<double>(waves.makespan) / left);
  const double speed = grid_body(grid, waves, memory) / grid_body(grid, fewer, memory);
  for (const GridResource places : kPlaceResources) share_of(demand, places) *= left / speed;
  return demand;
}

}  // namespace foretell
