#include "model/app/request/energy_record.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

constexpr double kJoulesPerKwh = 3.6e6;
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

void note_calibration(const DeviceEnergy& energy, RunRecord& record) {
  std::string note;
  if (!energy.is_calibrated && energy.fitted_on.empty()) {
    note =
        "energy: not calibrated; no power of this device is published, and the band comes from "
        "constants of its process";
  } else if (!energy.is_calibrated) {
    note = "energy: not calibrated on this device; energies per operation are those of " +
           energy.fitted_on;
  }
  if (!note.empty()) record.context.notes.push_back(std::move(note));
}

// Of the dearest way: energy at the wall, times what the building adds.
void set_energy_cost(const Request& request, RunSummary& summary) {
  if (request.usd_per_kwh <= 0) return;
  const double pue = request.pue > 0 ? request.pue : 1;
  const double usd = *summary.wall_watts * pue / summary.throughput / kJoulesPerKwh *
                     request.usd_per_kwh * kMillion;
  summary.energy_usd_per_million = usd;
  if (summary.cost_usd_per_million)
    summary.usd_per_million_with_energy = *summary.cost_usd_per_million + usd;
}

}  // namespace

void set_energy(const ResolvedWorkload& resolved, const EnergyFacts& facts, const Metrics& metrics,
                RunRecord& record) {
  const Request& request = resolved.request;
  RunSummary& summary = record.summary;
  const double units = static_cast<double>(request.batch) *
                       (metrics.generation ? static_cast<double>(request.output_len) : 1);
  const double calls_per_s = summary.throughput / units;
  const std::vector<EnergyPart> parts =
      energy_of_call(metrics, facts.energy, facts.setting, calls_per_s);
  const double joules = total_energy(parts).value();
  EnergyRecord energy = parts_record(parts);
  energy.devices = facts.setting.devices;
  energy.limit_w = facts.setting.limit.value();
  energy.interval80 = {facts.energy.interval_low, facts.energy.interval_high};
  for (const OperatorMetrics& op : metrics.operators) {
    energy.clock = energy.clock > 0 ? std::min(energy.clock, op.clock) : op.clock;
    energy.joules_by_operator[op.op] +=
        total_energy(energy_parts(op.work, Seconds(0), op.clock, facts.energy)).value() *
        facts.setting.ranks;
  }
  summary.watts = joules * calls_per_s;
  summary.joules_per_request = joules / static_cast<double>(request.batch);
  if (metrics.generation) summary.joules_per_token = joules / units;
  const double idle = std::max(0.0, facts.devices - facts.setting.devices);
  summary.wall_watts = facts.host.wall_watts(
      *summary.watts + idle * facts.energy.facts.active_idle_watts, facts.devices);
  summary.calibrated_energy = energy.calibrated_share;
  const auto band = [&](const char* field, double value) {
    summary.interval80[field] = {value * energy.interval80.low, value * energy.interval80.high};
  };
  band("watts", *summary.watts);
  band("joules_per_request", *summary.joules_per_request);
  if (summary.joules_per_token) band("joules_per_token", *summary.joules_per_token);
  summary.energy = std::move(energy);
  set_energy_cost(request, summary);
  note_calibration(facts.energy, record);
}

void mix_energy(const std::vector<CountedCall>& calls, RunSummary& whole) {
  double time = 0;
  double board = 0;
  double wall = 0;
  double per_request = 0;
  double usd_per_joule = 0;
  for (const CountedCall& call : calls) {
    const RunSummary& part = *call.summary;
    if (!part.watts || !part.wall_watts) {
      whole.watts = whole.wall_watts = whole.joules_per_request = whole.joules_per_token = {};
      whole.energy_usd_per_million = whole.usd_per_million_with_energy = {};
      whole.calibrated_energy = {};
      whole.energy.reset();
      return;
    }
    const double seconds = call.count * part.call_s;
    time += seconds;
    board += seconds * *part.watts;
    wall += seconds * *part.wall_watts;
    per_request += call.count * part.joules_per_request.value_or(0);
    if (part.energy_usd_per_million)
      usd_per_joule = *part.energy_usd_per_million * part.throughput / *part.wall_watts;
  }
  if (time <= 0) return;
  whole.watts = board / time;
  whole.wall_watts = wall / time;
  whole.joules_per_request = per_request;
  if (whole.joules_per_token) whole.joules_per_token = *whole.watts / whole.throughput;
  if (whole.energy_usd_per_million) {
    whole.energy_usd_per_million = usd_per_joule * *whole.wall_watts / whole.throughput;
    if (whole.cost_usd_per_million) {
      whole.usd_per_million_with_energy =
          *whole.cost_usd_per_million + *whole.energy_usd_per_million;
    }
  }
  if (!whole.energy) return;
  const Interval& ratio = whole.energy->interval80;
  const auto band = [&](const char* field, const std::optional<double>& value) {
    if (value) whole.interval80[field] = {*value * ratio.low, *value * ratio.high};
  };
  band("watts", whole.watts);
  band("joules_per_request", whole.joules_per_request);
  band("joules_per_token", whole.joules_per_token);
}

double parse_watts(const std::string& option, const std::string& text) {
  std::string number(trim(text));
  if (!number.empty() && (number.back() == 'W' || number.back() == 'w')) number.pop_back();
  double watts = 0;
  try {
    watts = parse_quantity(std::string(trim(number)), Dimension{});
  } catch (const UserError&) {
    throw UserError(option + ": '" + text + "' is not a number of watts; write 500W");
  }
  if (watts <= 0) throw UserError(option + ": must be above 0 W; write 500W");
  return watts;
}

}  // namespace foretell
