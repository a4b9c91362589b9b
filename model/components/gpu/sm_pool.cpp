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

}  // namespace

SmPool::SmPool(const sc_core::sc_module_name& name, int sms, bool exact)
    : sc_module(name), sms_(sms), exact_(exact) {
  SC_METHOD(wake);
  sensitive << wake_;
  dont_initialize();
}

GridWaves SmPool::waves(const Grid& grid) {
  if (exact_ || grid.ctas.empty()) return grid_waves(grid, sms_);
  const auto [known, is_new] = known_.try_emplace(key_of_blocks(grid));
  if (is_new) known->second = grid_waves(grid, sms_);
  return known->second;
}

void SmPool::start(std::vector<GridPhase> phases, Ticks alone, SmClient& client) {
  advance();
  auto grid = std::make_unique<Running>();
  grid->phases = std::move(phases);
  grid->phase_left = grid->phases.empty() ? 0 : grid->phases.front().time;
  grid->left = static_cast<double>(alone);
  grid->client = &client;
  running_.push_back(std::move(grid));
  plan();
}

Seconds SmPool::served(GridResource resource) const {
  return Seconds(served_[static_cast<std::size_t>(resource)] / kTicksPerSecond);
}

void SmPool::progress(Running& grid, double by) {
  grid.left -= by;
  while (by > 0 && grid.phase < grid.phases.size()) {
    const bool last = grid.phase + 1 == grid.phases.size();
    const double step = last ? by : std::min(by, grid.phase_left);
    for (std::size_t r = 0; r < kGridResources; ++r) {
      served_[r] += step * grid.phases[grid.phase].demand[r];
    }
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
  if (running_.size() > 1) shared_ += passed;
  for (const auto& grid : running_) {
    if (grid->phase < grid->phases.size()) {
      const double held = grid->phases[grid->phase].demand[0];
      stalled_ += passed * (1 - grid->speed) * held;
    }
    progress(*grid, passed * grid->speed);
  }
}

void SmPool::plan() {
  wake_.cancel();
  if (running_.empty()) return;
  double next = 0;
  if (running_.size() == 1) {
    running_.front()->speed = 1;
    next = running_.front()->left;
  } else {
    std::vector<GridDemand> demands;
    for (const auto& grid : running_) {
      const bool some = grid->phase < grid->phases.size();
      demands.push_back(some ? grid->phases[grid->phase].demand : GridDemand{});
    }
    const std::vector<double> speeds = fair_speeds(demands);
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
  std::vector<SmClient*> ended;
  for (auto grid = running_.begin(); grid != running_.end();) {
    if ((*grid)->left > kTick) {
      ++grid;
      continue;
    }
    ended.push_back((*grid)->client);
    grid = running_.erase(grid);
  }
  plan();
  for (SmClient* const client : ended) client->grid_ended();
}

}  // namespace foretell
