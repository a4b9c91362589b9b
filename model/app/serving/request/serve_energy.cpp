#include "model/app/request/call_figures.hpp"
#include "model/app/request/record/energy_record.hpp"
#include "model/app/serving/request/serve_parts.hpp"

namespace foretell {
namespace {

// Once, of the step that draws most.
void note_free_power(Watts most, const std::vector<PoweredWorkers>& groups, ServeContext& context) {
  if (!(most > Watts(0))) return;
  for (const PoweredWorkers& group : groups) {
    const auto& note = group.machine->power_note;
    std::string said = note && !(group.machine->limit > Watts(0)) ? note(most) : "";
    if (said.empty()) continue;
    context.notes.push_back(std::move(said));
    return;
  }
}

// Per million output tokens.
void set_cost(const Request& request, Watts wall, PerSecond tokens, ServeSummary& summary) {
  if (request.usd_per_kwh <= 0 || tokens <= PerSecond(0)) return;
  const Usd energy = energy_cost_per_million(request, wall, tokens);
  summary.energy_usd_per_million = energy.value();
  if (summary.cost_usd_per_million)
    summary.usd_per_million_with_energy = (Usd(*summary.cost_usd_per_million) + energy).value();
}

}  // namespace

void fill_energy(const ServiceResult& result, const std::vector<PoweredWorkers>& groups,
                 const Request& request, ServeRecord& record) {
  Watts idle;
  Watts low;
  Watts high;
  Watts limit;
  bool limited = true;
  for (const PoweredWorkers& group : groups) {
    if (!(group.machine->idle > Watts(0))) return;
    const Watts watts = group.machine->idle * group.devices();
    idle += watts;
    low += watts * group.machine->watts_ratio.first;
    high += watts * group.machine->watts_ratio.second;
    limit += group.machine->limit * group.devices();
    limited = limited && group.machine->limit > Watts(0);
  }
  const FullWindow& full = result.full;
  const Seconds begin = result.requests.empty() ? Seconds(0) : result.requests.front().arrival;
  const Seconds time = full.is_whole() ? full.end - full.begin : result.end - begin;
  if (time <= Seconds(0) || !(idle > Watts(0))) return;
  ServeSummary& summary = record.summary;
  const Joules steps = full.is_whole() ? full.energy : result.step_energy;
  const Joules energy = idle * time + steps;
  const Watts watts = energy / time;
  EnergyFigures figures;
  figures.watts = watts;
  figures.ratio80 = Interval{low / idle, high / idle};
  if (limited) figures.limit = limit;
  for (const PoweredWorkers& group : groups) {
    const double share = group.machine->idle * group.devices() / idle;
    figures.wall += group.machine->host.at_wall(watts * share, group.devices());
    figures.wall_per_watt += group.machine->host.wall_per_watt() * share;
  }
  if (result.output_tokens > 0) {
    const auto all = static_cast<double>(result.output_tokens);
    const double tokens = full.is_whole() ? static_cast<double>(full.tokens) : all;
    figures.per_token = energy / tokens;
    set_cost(request, figures.wall, PerSecond(tokens / time.value()), summary);
    if (result.answered > 0)
      figures.per_request = *figures.per_token * all / static_cast<double>(result.answered);
  }
  set_bands(figures);
  put_bands(figures, summary.interval80);
  const auto plain = [](const std::optional<Joules>& value) {
    return value ? std::optional<double>(value->value()) : std::nullopt;
  };
  summary.watts = figures.watts.value();
  summary.wall_watts = figures.wall.value();
  summary.joules_per_token = plain(figures.per_token);
  summary.joules_per_request = plain(figures.per_request);
  summary.busy_energy_share = steps / energy;
  note_free_power(result.most_power, groups, record.context);
}

}  // namespace foretell
