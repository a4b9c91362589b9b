#include "model/predict/call_energy.hpp"

#include <algorithm>

#include "model/predict/power_windows.hpp"

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

std::vector<EnergyPart> energy_of_call(const Metrics& metrics, const DeviceEnergy& energy,
                                       const EnergySetting& setting, double calls_per_s) {
  std::vector<EnergyPart> parts;
  const Watts idle(energy.facts.active_idle_watts);
  const std::vector<double> shares =
      shares_within(metrics, energy, idle, setting.limit * energy.facts.limit_share);
  for (const OperatorMetrics& op : metrics.operators) {
    const double share = shares.at(static_cast<std::size_t>(op.window));
    add_parts(energy_parts(op.work, Seconds(0), op.clock, energy), share * setting.ranks, parts);
  }
  const Seconds between(setting.devices / calls_per_s);
  add_parts(energy_parts({}, between, 1, energy), 1, parts);
  return parts;
}

}  // namespace foretell
