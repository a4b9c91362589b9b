#include "model/predict/power/call_energy.hpp"

#include <algorithm>

#include "model/predict/power/power_windows.hpp"

namespace foretell {
namespace {

void add_parts(const std::vector<EnergyPart>& more, double factor, std::vector<EnergyPart>& parts) {
  for (const EnergyPart& part : more) {
    const auto known = std::find_if(parts.begin(), parts.end(),
                                    [&](const EnergyPart& one) { return one.kind == part.kind; });
    if (known == parts.end()) {
      parts.push_back({part.kind, part.energy * factor, part.is_calibrated});
    } else {
      known->energy += part.energy * factor;
    }
  }
}

}  // namespace

EnergyWork work_of(const Metrics& metrics) {
  EnergyWork work;
  for (const OperatorMetrics& op : metrics.operators) work += op.work;
  return work;
}

Seconds operator_time(const Metrics& metrics) {
  Seconds time;
  for (const OperatorMetrics& op : metrics.operators) time += op.duration;
  return time;
}

CallEnergy energy_of_call(const Metrics& metrics, const DeviceEnergy& energy,
                          const EnergySetting& setting, double calls_per_s) {
  CallEnergy call;
  std::vector<EnergyPart>& parts = call.parts;
  const Watts idle = idle_power(1, energy.facts);
  const std::vector<double> shares =
      shares_within(metrics, energy, idle, setting.limit * energy.facts.limit_share);
  Joules leaks_less;  // while operators run at the voltage of their clocks
  for (const OperatorMetrics& op : metrics.operators) {
    const double share = shares.at(static_cast<std::size_t>(op.window)) * setting.ranks;
    const std::vector<EnergyPart> own = energy_parts(op.work, Seconds(0), op.clock, energy);
    add_parts(own, share, parts);
    call.by_operator[op.op] += total_energy(own) * share;
    leaks_less += (idle - idle_power(op.clock, energy.facts)) * op.duration * share;
  }
  const Seconds between(setting.devices / calls_per_s);
  add_parts(energy_parts({}, between, 1, energy), 1, parts);
  for (EnergyPart& part : parts) {
    if (part.kind == kActiveIdle) part.energy = part.energy - leaks_less;
  }
  return call;
}

}  // namespace foretell
