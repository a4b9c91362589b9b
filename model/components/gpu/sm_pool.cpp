#include "model/components/gpu/sm_pool.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kTick = 0.5;  // femtoseconds that are left when a phase has ended

std::vector<double> key_of_blocks(const Grid& grid) {
  std::vector<double> key;
  key.reserve(1 + 2 * grid.ctas.size());
  key.push_back(grid.ctas_per_sm);
  for (const CtaRun& run : grid.ctas) {
    key.push_back(static_cast<double>(run.count));
    key.push_back(run.duration.value());
  }
  return key;
}

// Its time in all, less its launch: its phases are stretched alike.
Ticks time_alone(const Grid& grid, const GridWaves& waves, const GridMemory& memory,
                 Ticks launched) {
  const double all =
      static_cast<double>(launched + to_ticks(grid.tail)) + grid_body(grid, waves, memory);
  return std::max<Ticks>(0, std::llround(all * grid.stretch) - launched);
}

bool has_bytes(const Grid& grid) { return grid.dram_bytes > Bytes(0) || grid.l2_bytes > Bytes(0); }

bool is_served(const GridPhase& phase) {
  return phase.demand[static_cast<std::size_t>(GridResource::kDram)] > 0 ||
         phase.demand[static_cast<std::size_t>(GridResource::kL2)] > 0;
}

}  // namespace

SmPool::SmPool(const sc_core::sc_module_name& name, const GpuDeviceSpec& spec,
               const SmMemories& memories, bool exact)
    : sc_module(name),
      dram("dram", memories.dram),
      l2("l2", memories.l2),
      sms_(spec.sms),
      sm_(spec.sm),
      exact_(exact) {
  SC_METHOD(wake);
  sensitive << wake_;
  dont_initialize();
}

GridWaves SmPool::waves_of(const Grid& grid) {
  if (exact_ || grid.ctas.empty()) return grid_waves(grid, sms_);
  const auto [known, is_new] = known_.try_emplace(key_of_blocks(grid));
  if (is_new) known->second = grid_waves(grid, sms_);
  return known->second;
}

void SmPool::set_phases(Running& grid, double passed) {
  const Ticks alone = time_alone(*grid.grid, grid.waves, grid.memory, grid.launched);
  grid.phases =
      grid_phases(*grid.grid, grid.waves, grid.memory, static_cast<double>(alone), grid.shares);
  grid.left = static_cast<double>(alone) - passed;
  grid.phase = 0;
  grid.phase_left = grid.phases.empty() ? 0 : grid.phases.front().time - passed;
  while (grid.phase_left <= kTick && grid.phase + 1 < grid.phases.size()) {
    grid.phase_left += grid.phases[++grid.phase].time;
  }
}

void SmPool::start(const Grid& grid, Ticks launched, std::function<std::string()> entry,
                   SmClient& client, double l2_share) {
  advance();
  auto begun = std::make_unique<Running>();
  begun->grid = &grid;
  begun->waves = waves_of(grid);
  begun->shares = block_shares(grid, sm_);
  begun->memory = stated_memory(grid);
  begun->memory.l2 *= l2_share;
  begun->l2_share = l2_share;
  begun->launched = launched;
  begun->entry = std::move(entry);
  begun->client = &client;
  set_phases(*begun, 0);
  ask_if_due(*begun);
  running_.push_back(std::move(begun));
  plan();
}

void SmPool::hold(int sms) {
  if (sms == 0) return;
  advance();
  held_sms_ += sms;
  const double share = static_cast<double>(std::min(held_sms_, sms_ - 1)) / sms_;
  for (const GridResource held : kPlaceResources) held_[static_cast<std::size_t>(held)] = share;
  plan();
}

void SmPool::ask_if_due(Running& grid) {
  if (grid.asked || !has_bytes(*grid.grid)) return;
  const bool ends = grid.phase >= grid.phases.size() || grid.left <= kTick;
  if (ends || is_served(grid.phases[grid.phase])) ask(grid);
}

void SmPool::ask(Running& grid) {
  grid.asked = true;
  const Speaker speaker{grid.entry};
  MemoryPort::Answer of_dram;
  MemoryPort::Answer of_l2;
  if (grid.grid->dram_bytes > Bytes(0))
    of_dram = dram.ask(grid.grid->dram_bytes, grid.grid->dram_rate, speaker);
  if (grid.grid->l2_bytes > Bytes(0))
    of_l2 = l2.ask(grid.grid->l2_bytes, grid.grid->l2_rate, speaker);
  const double passed =
      static_cast<double>(time_alone(*grid.grid, grid.waves, grid.memory, grid.launched)) -
      grid.left;
  const Ticks latency = to_ticks(grid.grid->memory_latency);
  grid.memory.last_byte = static_cast<double>(latency + std::max(of_dram.alone, of_l2.alone));
  grid.memory.dram = static_cast<double>(of_dram.held);
  grid.memory.l2 = static_cast<double>(of_l2.held) * grid.l2_share;
  set_phases(grid, passed);
}

Seconds SmPool::served(GridResource resource) const {
  return Seconds(served_[static_cast<std::size_t>(resource)] / kTicksPerSecond);
}

Seconds SmPool::stalled(GridResource resource) const {
  return Seconds(stalled_[static_cast<std::size_t>(resource)] / kTicksPerSecond);
}

void SmPool::progress(Running& grid, double by) {
  grid.left -= by;
  while (by > 0 && grid.phase < grid.phases.size()) {
    const bool last = grid.phase + 1 == grid.phases.size();
    const double step = last ? by : std::min(by, grid.phase_left);
    const GridDemand demand = demand_of(grid);
    for (std::size_t r = 0; r < kGridResources; ++r) served_[r] += step * demand[r];
    by -= step;
    grid.phase_left -= step;
    if (last || grid.phase_left > kTick) return;
    ++grid.phase;
    grid.phase_left += grid.phases[grid.phase].time;
  }
}

void SmPool::advance() {
  const Ticks now = now_ticks();
  const auto passed = static_cast<double>(now - advanced_to_);
  advanced_to_ = now;
  if (!(passed > 0)) return;
  for (std::size_t r = 0; r < kGridResources; ++r) served_[r] += passed * held_[r];
  if (running_.size() > 1) count_shared(passed);
  for (const auto& grid : running_) progress(*grid, passed * grid->speed);
}

void SmPool::count_shared(double passed) {
  shared_ += passed;
  GridDemand asked{};
  GridDemand used{};
  for (const auto& grid : running_) {
    if (grid->phase >= grid->phases.size()) continue;
    const GridDemand demand = demand_of(*grid);
    for (std::size_t r = 0; r < kGridResources; ++r) {
      asked[r] += demand[r];
      used[r] += grid->speed * demand[r];
    }
  }
  for (std::size_t r = 0; r < kGridResources; ++r) {
    stalled_[r] += passed * std::max(0.0, std::min(1.0, asked[r]) - used[r]);
  }
}

GridDemand SmPool::demand_of(const Running& grid) const {
  const double held = held_[static_cast<std::size_t>(GridResource::kSms)];
  if (!(held > 0)) return grid.phases[grid.phase].demand;
  return demand_beside(grid.phases[grid.phase], held, *grid.grid, grid.waves, grid.memory);
}

void SmPool::plan() {
  wake_.cancel();
  if (running_.empty()) return;
  double next = 0;
  if (running_.size() == 1 && held_sms_ == 0) {
    running_.front()->speed = 1;
    const Running& grid = *running_.front();
    next = grid.asked || !has_bytes(*grid.grid) ? grid.left : std::min(grid.left, grid.phase_left);
  } else {
    std::vector<GridDemand> demands;
    for (const auto& grid : running_) {
      const bool some = grid->phase < grid->phases.size();
      demands.push_back(some ? demand_of(*grid) : GridDemand{});
    }
    const std::vector<double> speeds = fair_speeds(demands, held_);
    next = -1;
    for (std::size_t g = 0; g < running_.size(); ++g) {
      Running& grid = *running_[g];
      grid.speed = speeds[g];
      const bool last = grid.phase + 1 >= grid.phases.size();
      const double time = (last ? grid.left : grid.phase_left) / grid.speed;
      next = next < 0 ? time : std::min(next, time);
    }
  }
  wake_.notify(to_sc_time(static_cast<Ticks>(std::ceil(std::max(0.0, next)))));
}

void SmPool::wake() {
  ++activations_;
  advance();
  std::vector<std::unique_ptr<Running>> ended;
  for (auto grid = running_.begin(); grid != running_.end();) {
    ask_if_due(**grid);
    if ((*grid)->left > kTick) {
      ++grid;
      continue;
    }
    ended.push_back(std::move(*grid));
    grid = running_.erase(grid);
  }
  plan();
  for (const auto& grid : ended) {
    const double drain = static_cast<double>(to_ticks(grid->grid->tail)) +
                         grid_drain(*grid->grid, grid->waves, grid->memory);
    grid->client->grid_ended(std::llround(drain * grid->grid->stretch));
  }
}

}  // namespace foretell
