#include "model/predict/limited_call.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/predict/call_energy.hpp"
#include "model/predict/drawn_power.hpp"

namespace foretell {
namespace {

constexpr double kSettled = 0.005;  // of the clock
constexpr int kMaxRuns = 8;

GpuCallResult run_at(const GpuCall& call, double share) {
  if (share == 1) return run_gpu_call(call);
  GpuSystemSpec slower = call.system;
  slower.device = at_clock(call.system.device, share);
  const GpuCall same{call.graph,          call.precision,        slower,
                     call.factors,        call.launch,           call.sustained_clock,
                     call.rotated_copies, call.heads_share_keys, call.fusion,
                     call.exact,          call.for_timeline,     call.one_stream};
  return run_gpu_call(same);
}

void set_clock(double clock, GpuCallResult& result) {
  for (OperatorMetrics& op : result.metrics.operators) op.clock = clock;
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
    for (int run = 0; run < kMaxRuns && low < high * (1 - kSettled); ++run) {
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
  if (call.for_timeline) {
    const Watts limit = limits.asked > Watts(0) ? limits.asked : limits.board;
    set_kernel_power(result.metrics, energy, Watts(energy.facts.active_idle_watts),
                     limit * energy.facts.limit_share, result.kernels);
  }
  return result;
}

}  // namespace foretell
