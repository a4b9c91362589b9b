#include <algorithm>

#include "model/app/serving/request/serve_parts.hpp"

namespace foretell {
namespace {

constexpr double kJoulesOfAKwh = 3.6e6;
constexpr double kMillionTokens = 1e6;

void note_uncalibrated(const std::vector<PoweredWorkers>& groups, ServeContext& context) {
  for (const PoweredWorkers& group : groups) {
    if (group.machine->calibrated_energy) continue;
    const std::string note =
        "energy: not calibrated on " + group.machine->system + "; see docs/energy.md";
    if (std::find(context.notes.begin(), context.notes.end(), note) == context.notes.end())
      context.notes.push_back(note);
  }
}

// Energy at the wall, times what the building adds, per million output tokens.
void set_cost(const Request& request, double tokens_per_s, ServeSummary& summary) {
  if (request.usd_per_kwh <= 0 || tokens_per_s <= 0) return;
  const double pue = request.pue > 0 ? request.pue : 1;
  const double usd = *summary.wall_watts * pue / tokens_per_s / kJoulesOfAKwh *
                     request.usd_per_kwh * kMillionTokens;
  summary.energy_usd_per_million = usd;
  if (summary.cost_usd_per_million)
    summary.usd_per_million_with_energy = *summary.cost_usd_per_million + usd;
}

}  // namespace

void fill_energy(const ServiceResult& result, const std::vector<PoweredWorkers>& groups,
                 const Request& request, ServeRecord& record) {
  double idle = 0;
  double low = 0;
  double high = 0;
  for (const PoweredWorkers& group : groups) {
    if (group.machine->idle_watts <= 0) return;
    const double watts = group.devices() * group.machine->idle_watts;
    idle += watts;
    low += watts * group.machine->watts_ratio.first;
    high += watts * group.machine->watts_ratio.second;
  }
  if (result.end_s <= 0 || idle <= 0) return;
  ServeSummary& summary = record.summary;
  const double joules = idle * result.end_s + result.step_joules;
  const double watts = joules / result.end_s;
  double wall = 0;
  for (const PoweredWorkers& group : groups) {
    const double share = group.devices() * group.machine->idle_watts / idle;
    wall += group.machine->host.wall_watts(watts * share, group.devices());
  }
  summary.watts = watts;
  summary.wall_watts = wall;
  summary.busy_energy_share = result.step_joules / joules;
  summary.interval80["watts"] = {watts * low / idle, watts * high / idle};
  if (result.output_tokens > 0) {
    const auto tokens = static_cast<double>(result.output_tokens);
    summary.joules_per_token = joules / tokens;
    set_cost(request, tokens / result.end_s, summary);
  }
  if (result.answered > 0)
    summary.joules_per_request = joules / static_cast<double>(result.answered);
  note_uncalibrated(groups, record.context);
}

}  // namespace foretell
