#include "model/app/request/record/energy_record.hpp"

#include <algorithm>
#include <utility>

#include "model/app/request/record/added_notes.hpp"

namespace foretell {
namespace {

const Joules kKwh(3.6e6);
constexpr double kMillion = 1e6;

EnergyRecord parts_record(const std::vector<EnergyPart>& parts) {
  EnergyRecord record;
  double calibrated = 0;
  for (const EnergyPart& part : parts) {
    record.parts.push_back({part.kind, part.energy.value(), part.is_calibrated});
    if (part.is_calibrated) calibrated += part.energy.value();
  }
  record.calibrated_share = std::clamp(calibrated / total_energy(parts).value(), 0.0, 1.0);
  return record;
}

void set_energy_cost(const Request& request, const CallFigures& call, EnergyFigures& energy) {
  if (request.usd_per_kwh <= 0) return;
  energy.usd_per_million = energy_cost_per_million(request, energy.wall, call.throughput);
  if (call.cost) energy.usd_per_million_with_price = *call.cost + *energy.usd_per_million;
}

// Those of one call of the whole.
EnergyRecord mixed_parts(const std::vector<CountedCall>& calls, const EnergyRecord& whole) {
  EnergyRecord mixed = whole;
  mixed.parts.clear();
  mixed.joules_by_operator.clear();
  double joules = 0;
  double calibrated = 0;
  for (const CountedCall& call : calls) {
    if (call.energy == nullptr) return whole;
    for (const EnergyPartRecord& part : call.energy->parts) {
      const auto known =
          std::find_if(mixed.parts.begin(), mixed.parts.end(),
                       [&](const EnergyPartRecord& other) { return other.kind == part.kind; });
      EnergyPartRecord& sum =
          known != mixed.parts.end()
              ? *known
              : mixed.parts.emplace_back(EnergyPartRecord{part.kind, 0, part.is_calibrated});
      sum.joules += call.count * part.joules;
      joules += call.count * part.joules;
      if (part.is_calibrated) calibrated += call.count * part.joules;
    }
    for (const auto& [op, own] : call.energy->joules_by_operator)
      mixed.joules_by_operator[op] += call.count * own;
    mixed.clock = std::min(mixed.clock, call.energy->clock);
  }
  mixed.calibrated_share = joules > 0 ? std::clamp(calibrated / joules, 0.0, 1.0) : 0;
  return mixed;
}

}  // namespace

std::vector<std::string> calibration_notes(const DeviceEnergy& energy) {
  if (energy.is_calibrated) return {};
  if (energy.fitted_on.empty()) {
    return {
        "energy: not calibrated; no power of this device is published, and the band comes from "
        "constants of its process"};
  }
  return {"energy: not calibrated on this device; energies per operation are those of " +
          energy.fitted_on};
}

void set_bands(EnergyFigures& energy) {
  energy.watts80.reset();
  energy.per_request80.reset();
  energy.per_token80.reset();
  energy.wall80.reset();
  if (!energy.ratio80) return;
  energy.watts80 = band_of(*energy.ratio80, energy.watts);
  if (energy.limit > Watts(0))
    energy.watts80->high = std::min(energy.watts80->high, std::max(energy.limit, energy.watts));
  if (energy.wall_per_watt > 0) {  // what the host draws on its own is as it is
    energy.wall80 =
        Band<Watts>{energy.wall - (energy.watts - energy.watts80->low) * energy.wall_per_watt,
                    energy.wall + (energy.watts80->high - energy.watts) * energy.wall_per_watt};
  }
  if (energy.per_request) energy.per_request80 = band_of(*energy.ratio80, *energy.per_request);
  if (energy.per_token) energy.per_token80 = band_of(*energy.ratio80, *energy.per_token);
}

Usd energy_cost_per_million(const Request& request, Watts wall, PerSecond throughput) {
  const double pue = request.pue > 0 ? request.pue : 1;
  return wall * pue / throughput / kKwh * Usd(request.usd_per_kwh) * kMillion;
}

void set_energy(const ResolvedWorkload& resolved, const EnergyFacts& facts, const Metrics& metrics,
                CallFigures& figures, RunRecord& record) {
  const Request& request = resolved.request;
  const double units = static_cast<double>(request.batch) *
                       (metrics.generation ? static_cast<double>(request.output_len) : 1);
  const PerSecond calls = figures.throughput / units;
  const CallEnergy call = energy_of_call(metrics, facts.energy, facts.setting, calls.value());
  const Joules joules = total_energy(call.parts);
  EnergyRecord parts_of_call = parts_record(call.parts);
  parts_of_call.devices = facts.setting.devices;
  parts_of_call.limit_w = facts.setting.limit.value();
  parts_of_call.interval80 = {facts.energy.interval_low, facts.energy.interval_high};
  for (const OperatorMetrics& op : metrics.operators) {
    parts_of_call.clock =
        parts_of_call.clock > 0 ? std::min(parts_of_call.clock, op.clock) : op.clock;
  }
  for (const auto& [op, own] : call.by_operator) parts_of_call.joules_by_operator[op] = own.value();
  EnergyFigures energy;
  energy.watts = joules * calls;
  energy.per_request = joules / static_cast<double>(request.batch);
  if (metrics.generation) energy.per_token = joules / units;
  const double idle = std::max(0.0, facts.devices - facts.setting.devices);
  energy.wall =
      facts.host.at_wall(energy.watts + idle_power(1, facts.energy.facts) * idle, facts.devices);
  energy.wall_per_watt = facts.host.wall_per_watt();
  energy.ratio80 = parts_of_call.interval80;
  energy.limit = facts.setting.limit * facts.setting.devices;
  set_bands(energy);
  set_energy_cost(request, figures, energy);
  figures.energy = energy;
  record.summary.calibrated_energy = parts_of_call.calibrated_share;
  record.summary.energy = std::move(parts_of_call);
  add_new(calibration_notes(facts.energy), record.context.notes);
}

void mix_energy(const std::vector<CountedCall>& calls, CallFigures& whole, RunSummary& summary) {
  Seconds time;
  Joules board;
  Joules wall;
  Joules per_request;
  double usd_per_joule = 0;
  for (const CountedCall& call : calls) {
    const std::optional<EnergyFigures>& part = call.figures.energy;
    if (!part) {
      whole.energy.reset();
      return;
    }
    const Seconds taken = call.count * call.figures.call;
    time += taken;
    board += part->watts * taken;
    wall += part->wall * taken;
    per_request += part->per_request.value_or(Joules(0)) * call.count;
    if (part->usd_per_million) {
      const UsdPerSecond costs = *part->usd_per_million * call.figures.throughput;
      usd_per_joule = costs.value() / part->wall.value();
    }
  }
  if (time <= Seconds(0) || !whole.energy) return;
  EnergyFigures& energy = *whole.energy;
  energy.watts = board / time;
  energy.wall = wall / time;
  energy.per_request = per_request;
  if (energy.per_token) energy.per_token = energy.watts / whole.throughput;
  if (energy.usd_per_million) {
    const UsdPerSecond costs(usd_per_joule * energy.wall.value());
    energy.usd_per_million = Usd(costs.value() / whole.throughput.value());
    if (whole.cost) energy.usd_per_million_with_price = *whole.cost + *energy.usd_per_million;
  }
  set_bands(energy);
  if (!summary.energy) return;
  summary.energy = mixed_parts(calls, *summary.energy);
  summary.calibrated_energy = summary.energy->calibrated_share;
}

}  // namespace foretell
