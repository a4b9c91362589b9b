#include "model/app/tables/kinds/wall_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "calib/fitted/shared/energy_factors.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/host_power.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/base/errors.hpp"
#include "model/base/looked_up.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "model/config/node_text.hpp"
#include "model/config/unit_text.hpp"
#include "model/timing/shared/energy_timing.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMostSamples = 1 << 20;
constexpr std::int64_t kMostBoards = 1024;
constexpr double kMostBoardWatts = 1e5;
constexpr double kMostRate = 1e9;

WallLimit read_limit(const Node& entry) {
  entry.only_keys({"run", "software", "watts", "source"}, "limits");
  WallLimit limit;
  limit.run = entry.required("run", "limits").as_text("run");
  entry.required("source", "limits");
  limit.software = item_texts(entry.required("software", "limits"), "software");
  for (const MapEntry& of : entry.required("watts", "limits").entries) {
    limit.watts_by_scenario[of.key] =
        parse_positive("watts", of.value.as_text("watts"), kMostBoardWatts);
  }
  return limit;
}

// The second word of "closed Offline DGX-A100 …".
std::string scenario_of(const NamedCells& cells, const CsvRow& row) {
  const std::vector<std::string> words = split(cells.text(row, "scenario"), ' ');
  return words.size() < 2 ? "Offline" : words[1];
}

std::optional<double> stated_limit(const WallRuns& runs, const NamedCells& cells, const CsvRow& row,
                                   const std::string& scenario) {
  const std::string path = cells.text(row, "path");
  const std::string framework = cells.text(row, "framework");
  for (const WallLimit& limit : runs.limits) {
    const auto watts = limit.watts_by_scenario.find(scenario);
    if (!starts_with(path, limit.run) || watts == limit.watts_by_scenario.end()) continue;
    const bool is_release =
        std::any_of(limit.software.begin(), limit.software.end(),
                    [&](const std::string& release) { return starts_with(framework, release); });
    if (is_release) return watts->second;
  }
  return std::nullopt;
}

WallHosts read_hosts(const Node& section) {
  section.only_keys({"share", "switch_watts", "boards_with_switches", "processors", "source"},
                    "hosts");
  const auto number = [&](const char* key) {
    const Node& fact = section.required(key, "hosts");
    return parse_positive(key, fact.required("value", key).as_text(key), kMostBoardWatts);
  };
  WallHosts hosts;
  hosts.share = number("share");
  hosts.switch_watts = number("switch_watts");
  hosts.boards_with_switches = parse_count(
      "boards_with_switches", section.required("boards_with_switches", "hosts").as_text("hosts"), 1,
      kMostBoards);
  hosts.watts_by_processor = served_names(section, "processors");
  return hosts;
}

// In "…; host 2x AMD EPYC 7742; …", what the processors are sold to draw, together; 0: not known.
double processor_watts_of(const WallHosts& hosts, const std::string& notes) {
  constexpr std::string_view kHost = "host ";
  const std::size_t begin = notes.find(kHost);
  if (begin == std::string::npos) return 0;
  const std::string host = notes.substr(begin + kHost.size());
  const double count = leading_number(host).value;
  for (const auto& [name, watts] : hosts.watts_by_processor) {
    if (host.find(name) != std::string::npos)
      return count * parse_positive("processors", watts, kMostBoardWatts);
  }
  return 0;
}

double stated_rate(const WallRuns& runs, const std::string& system, const std::string& scenario) {
  const auto rates = runs.full_rates.find(system);
  if (rates == runs.full_rates.end()) return 0;
  const auto rate = rates->second.find(scenario);
  return rate == rates->second.end() ? 0 : rate->second;
}

double switched_joules(const RunSummary& summary) {
  double joules = 0;
  for (const EnergyPartRecord& part : summary.energy->parts)
    if (part.kind != kActiveIdle) joules += part.joules;
  return joules;
}

// By all boards. At a throughput below the full rate the clock is lower in proportion: there are as
// many operations as samples, and each takes the square of the voltage.
double board_watts_of(const WallRun& run, const RunSummary& summary, const GpuDeviceSpec& device,
                      const DeviceEnergy& energy) {
  const double boards = run.request.dp;
  const double most = boards * device.power.value() * energy.facts.limit_share;
  const double per_sample = switched_joules(summary) / static_cast<double>(run.request.batch);
  if (!run.request.power_limit.empty()) return *summary.watts;
  const auto idle = [&](double clock) { return boards * idle_power(clock, energy.facts).value(); };
  if (run.one_query) return std::min(idle(1) + run.throughput * per_sample, most);
  const double full = run.full_rate > 0 ? boards * run.full_rate : summary.throughput;
  const double clock = std::clamp(run.throughput / full, energy.facts.lowest_clock, 1.0);
  const double voltage = voltage_share(clock, energy.facts);
  return std::min(idle(clock) + run.throughput * per_sample * voltage * voltage, most);
}

}  // namespace

bool is_at_the_wall(const NamedCells& cells, const CsvRow& row) {
  return cells.text(row, "watts_of").find("at the wall") != std::string::npos;
}

WallRuns read_wall_runs(const Node& section) {
  section.only_keys(
      {"source", "dtype", "networks", "systems", "batches", "full_rates", "limits", "hosts"},
      "walls");
  WallRuns runs;
  runs.networks = served_names(section, "networks");
  runs.systems = served_names(section, "systems");
  runs.dtype = section.required("dtype", "walls").as_text("dtype");
  for (const auto& [scenario, batch] : served_names(section, "batches"))
    runs.batch_by_scenario[scenario] = parse_count("batches", batch, 1, kMostSamples);
  for (const MapEntry& system : section.required("full_rates", "walls").entries) {
    for (const MapEntry& of : system.value.entries) {
      if (of.key == "source") continue;
      runs.full_rates[system.key][of.key] =
          parse_positive("full_rates", of.value.as_text("full_rates"), kMostRate);
    }
  }
  for (const Node& entry : section.required("limits", "walls").items)
    runs.limits.push_back(read_limit(entry));
  runs.hosts = read_hosts(section.required("hosts", "walls"));
  return runs;
}

WallRun read_wall_run(const WallRuns& runs, const NamedCells& cells, const CsvRow& row,
                      const Request& defaults) {
  WallRun run;
  Request& request = run.request;
  request = defaults;
  request.workload = looked_up(runs.networks, "model", cells.text(row, "model"));
  request.system = looked_up(runs.systems, "device", cells.text(row, "device"));
  request.dtype = runs.dtype;
  request.dp =
      static_cast<int>(parse_count("n_devices", cells.text(row, "n_devices"), 1, kMostBoards));
  const std::string scenario = scenario_of(cells, row);
  request.batch = looked_up(runs.batch_by_scenario, "scenario", scenario);
  run.one_query = ends_with(scenario, "Stream");
  const std::optional<double> throughput =
      read_measurement("throughput", cells.text(row, "throughput"));
  if (!throughput) throw UserError("throughput: is empty; this row needs it");
  run.throughput = *throughput;
  run.full_rate = stated_rate(runs, request.system, scenario);
  run.processor_watts = runs.hosts.share * processor_watts_of(runs.hosts, cells.text(row, "notes"));
  if (request.dp >= runs.hosts.boards_with_switches) run.switch_watts = runs.hosts.switch_watts;
  if (const std::optional<double> limit = stated_limit(runs, cells, row, scenario))
    request.power_limit = fmt::format("{}W", *limit);
  return run;
}

double wall_watts_of(const WallRun& run, const Predictor& predict) {
  const RunRecord record = predict(run.request);
  const RunSummary& summary = record.summary;
  if (!summary.energy || !summary.watts) throw UserError("no energy of this system is known");
  const GpuSystemSpec spec = GpuCatalog().load(run.request.system).spec;
  const DeviceEnergy energy = load_gpu_energy(spec.device, run.request.factors);
  const double drawn = board_watts_of(run, summary, spec.device, energy);
  HostPower host = load_host_power(spec.id, spec.interconnect);
  if (run.processor_watts > 0) {
    host.own = Watts(run.processor_watts);
    host.per_device = Watts(spec.interconnect == "nvlink" ? run.switch_watts : 0);
  }
  return host.at_wall(Watts(drawn), run.request.dp).value();
}

}  // namespace foretell
