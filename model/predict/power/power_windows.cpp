#include "model/predict/power/power_windows.hpp"

#include <algorithm>
#include <cmath>

#include "model/predict/power/call_energy.hpp"

namespace foretell {

std::vector<PowerWindow> power_windows(const Metrics& metrics, Seconds length) {
  const std::size_t count = metrics.operators.size();
  if (count == 0) return {};
  const Seconds total = operator_time(metrics);
  const double windows = std::max(1.0, std::round(total / length));
  if (windows < 2) return {{0, count}};
  const Seconds each = total / windows;
  std::vector<PowerWindow> parts;
  Seconds before;
  double number = -1;
  for (std::size_t i = 0; i < count; ++i) {
    const Seconds time = metrics.operators[i].duration;
    const double of_operator = std::min(windows - 1, std::floor((before + time / 2.0) / each));
    if (of_operator > number) parts.push_back({i, i});
    number = std::max(number, of_operator);
    parts.back().last = i + 1;
    before += time;
  }
  return parts;
}

Watts WindowLoad::power_at_clock(double clock, const DeviceEnergy& energy) const {
  return power_at(work, time, 0, clock, energy);
}

WindowLoad load_of(const PowerWindow& window, const Metrics& metrics) {
  WindowLoad load;
  for (std::size_t i = window.first; i < window.last; ++i) {
    load.work += metrics.operators[i].work;
    load.time += metrics.operators[i].duration;
  }
  return load;
}

std::vector<double> shares_within(const Metrics& metrics, const DeviceEnergy& energy, Watts idle,
                                  Watts most) {
  int windows = 1;
  for (const OperatorMetrics& op : metrics.operators) windows = std::max(windows, op.window + 1);
  std::vector<Joules> drawn(static_cast<std::size_t>(windows));
  std::vector<bool> slowest(drawn.size(), false);
  std::vector<Seconds> time(drawn.size());
  for (const OperatorMetrics& op : metrics.operators) {
    const auto window = static_cast<std::size_t>(op.window);
    drawn[window] += added_energy(op.work, op.duration, op.clock, energy);
    time[window] += op.duration;
    slowest[window] = op.clock <= energy.facts.lowest_clock;
  }
  std::vector<double> shares(drawn.size(), 1);
  for (std::size_t w = 0; w < shares.size(); ++w) {
    if (!(most > Watts(0)) || !(time[w] > Seconds(0)) || slowest[w]) continue;
    const Watts power = drawn[w] / time[w];
    if (power + idle > most) shares[w] = (most - idle) / power;
  }
  return shares;
}

}  // namespace foretell
