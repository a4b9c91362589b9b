#include "model/predict/limited_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "model/predict/call_energy.hpp"

namespace foretell {
namespace {

constexpr double kSettled = 0.005;  // of the clock
constexpr int kMostRuns = 8;

GpuCallResult run_at(const GpuCall& call, double share) {
  if (share == 1) return run_gpu_call(call);
  GpuSystemSpec slower = call.system;
  slower.device = at_clock(call.system.device, share);
  const GpuCall same{call.graph,          call.precision,        slower,
                     call.factors,        call.launch,           call.sustained_clock,
                     call.rotated_copies, call.heads_share_keys, call.exact,
                     call.for_timeline};
  return run_gpu_call(same);
}

void set_clock(double clock, GpuCallResult& result) {
  for (OperatorMetrics& op : result.metrics.operators) op.clock = clock;
}

// What each kernel draws above active idle: the mean of its operator, no more than the limit
// leaves.
void set_power(const ClockLimits& limits, const DeviceEnergy& energy, GpuCallResult& result) {
  const Watts idle(energy.facts.active_idle_watts);
  const Watts limit = limits.asked > Watts(0) ? limits.asked : limits.board;
  const Watts most = limit * energy.facts.limit_share;
  std::map<std::string_view, Seconds> time;  // by operator
  for (const KernelRun& run : result.kernels) time[run.op] += run.duration;
  std::map<std::string_view, Watts> power;
  for (const OperatorMetrics& op : result.metrics.operators) {
    const auto found = time.find(op.name);
    if (found == time.end() || !(found->second > Seconds(0))) continue;
    const Watts drawn =
        total_energy(energy_parts(op.work, Seconds(0), op.clock, energy)) / found->second;
    power[op.name] = limit > Watts(0) && drawn + idle > most ? most - idle : drawn;
  }
  for (KernelRun& run : result.kernels) {
    run.idle_power = idle;
    const auto found = power.find(run.op);
    if (found != power.end()) run.power = found->second;
  }
}

Watts power_of(const GpuCallResult& result, double clock, const DeviceEnergy& energy) {
  return power_at(work_of(result.metrics), result.metrics.device, 0, clock, energy);
}

}  // namespace

GpuDeviceSpec at_clock(const GpuDeviceSpec& device, double share) {
  GpuDeviceSpec slower = device;
  slower.clock.boost = device.clock.boost * share;
  for (auto& [type, rate] : slower.matrix_rate) rate *= share;
  for (auto& [type, rate] : slower.vector_rate) rate *= share;
  return slower;
}

GpuCallResult run_within(const GpuCall& call, const DeviceEnergy& energy,
                         const ClockLimits& limits) {
  GpuCallResult result = run_gpu_call(call);
  if (!(result.metrics.device > Seconds(0)) || !(limits.board > Watts(0))) return result;
  const Watts held = limits.board * energy.facts.limit_share;
  const double left = clock_within(work_of(result.metrics), result.metrics.device, 0, held, energy);
  double clock = std::min(left, limits.clock);
  if (clock < left) result = run_at(call, clock / left);
  const bool is_limited = limits.asked > Watts(0) && limits.asked < limits.board;
  const Watts most = limits.asked * energy.facts.limit_share;
  if (is_limited && power_of(result, clock, energy) > most) {
    double low = energy.facts.lowest_clock;
    double high = clock;
    clock = low;
    result = run_at(call, low / left);
    // The first step is the one that power in proportion to the cube of the clock would take.
    double next = std::clamp(high * std::cbrt(most / held), low, high);
    for (int run = 0; run < kMostRuns && low < high * (1 - kSettled); ++run) {
      GpuCallResult tried = run_at(call, next / left);
      if (power_of(tried, next, energy) > most) {
        high = next;
      } else {
        low = clock = next;
        result = std::move(tried);
      }
      next = (low + high) / 2;
    }
    if (power_of(result, clock, energy) > most) {
      result.notes.push_back(fmt::format(
          "a power limit of {:.0f} W is not kept: at the lowest clock the board draws {:.0f} W",
          limits.asked.value(), power_of(result, clock, energy).value()));
    }
  }
  set_clock(clock, result);
  if (call.for_timeline) set_power(limits, energy, result);
  return result;
}

}  // namespace foretell
