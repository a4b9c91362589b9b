#include "model/predict/call_energy.hpp"

#include <algorithm>

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
  for (const OperatorMetrics& op : metrics.operators) {
    add_parts(energy_parts(op.work, Seconds(0), op.clock, energy), setting.ranks, parts);
  }
  const Seconds time = operator_time(metrics);
  const Watts idle(energy.facts.active_idle_watts);
  const Watts most = setting.limit * energy.facts.limit_share;
  if (setting.limit > Watts(0) && time > Seconds(0)) {
    const Watts drawn = total_energy(parts) / setting.ranks / time;
    const double share = drawn + idle > most ? (most - idle) / drawn : 1;
    for (EnergyPart& part : parts) part.energy = part.energy * share;
  }
  const Seconds between(setting.devices / calls_per_s);
  add_parts(energy_parts({}, between, 1, energy), 1, parts);
  return parts;
}

}  // namespace foretell
