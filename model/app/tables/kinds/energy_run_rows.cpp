#include "model/app/tables/kinds/energy_run_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "calib/fitted/shared/energy_factors.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/serving/request/served_cells.hpp"
#include "model/app/tables/serve_many.hpp"
#include "model/app/workers/stop_signals.hpp"
#include "model/base/errors.hpp"
#include "model/base/looked_up.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/timing/shared/energy_timing.hpp"

namespace foretell {
namespace {

constexpr const char* kRunRecipe = "hw/engines/recipes/energy_benchmark.yaml";
constexpr const char* kUnderCap = "under power cap";
constexpr const char* kDiffusionRun = "network/diffusion";
constexpr std::int64_t kMostOfRun = 10'000'000;
constexpr std::int64_t kMostDevices = 1024;
constexpr double kMostWatts = 1e5;
constexpr double kMsPerSecondOfRuns = 1e3;

double positive_cell(const NamedCells& cells, const CsvRow& row, const char* column) {
  const std::optional<double> value = read_measurement(column, cells.text(row, column));
  if (!value) throw UserError(std::string(column) + ": is empty; this row needs it");
  return *value;
}

// "avg 7.9 (max_num_seqs 8)": requests that the server had places for.
std::int64_t places_of(const std::string& text) {
  constexpr std::string_view kPlaces = "max_num_seqs ";
  const std::size_t at = text.find(kPlaces);
  if (at == std::string::npos) return parse_count("batch_or_concurrency", text, 1, kMostOfRun);
  const double places = leading_number(std::string_view(text).substr(at + kPlaces.size())).value;
  if (!(places >= 1) || places > static_cast<double>(kMostOfRun)) {
    throw UserError("batch_or_concurrency: '" + text +
                    "' holds no number of places; write avg 7.9 (max_num_seqs 8) or 8");
  }
  return std::llround(places);
}

// In "tp1 ep4 dp4", the number after "ep" or "dp"; 1 where there is none.
int share_of(const std::string& text, std::string_view kind) {
  for (const std::string& word : split(text, ' ')) {
    if (starts_with(word, kind))
      return static_cast<int>(leading_number(std::string_view(word).substr(kind.size())).value);
  }
  return 1;
}

// A job, apart from its cap.
std::string job_of(const NamedCells& cells, const CsvRow& row) {
  return fmt::format("{} {} {}", cells.text(row, "model"), cells.text(row, "batch_or_concurrency"),
                     cells.text(row, "scenario"));
}

RowPrediction run_prediction(const ServeSummary& summary, int devices) {
  if (!summary.watts || !summary.joules_per_token)
    throw UserError("no energy of this system is known");
  const double boards = devices;
  const Interval& all = summary.interval80.at("watts");
  const Interval band{all.low / boards, all.high / boards};
  RowPrediction prediction;
  prediction.values = {{"pred_watts_per_device", *summary.watts / boards},
                       {"pred_lo_w", band.low},
                       {"pred_hi_w", band.high},
                       {"pred_j_per_token", *summary.joules_per_token},
                       {"pred_latency_ms", summary.itl_s.p50 * kMsPerSecondOfRuns}};
  prediction.intervals = {{"watts_per_device", band}};
  return prediction;
}

// What all boards of a call draw whatever runs on them.
double idle_watts_of(const RunSummary& summary) {
  double joules = 0;
  for (const EnergyPartRecord& part : summary.energy->parts)
    if (part.kind == kActiveIdle) joules += part.joules;
  return joules / summary.call_s;
}

}  // namespace

std::string energy_run_family(const NamedCells& cells, const CsvRow& row) {
  const bool capped = cells.text(row, "what").find(kUnderCap) != std::string::npos;
  if (is_at_the_wall(cells, row)) return "wall " + cells.text(row, "device");
  return capped ? job_of(cells, row) : cells.text(row, "model");
}

EnergyRunBatch::EnergyRunBatch(const CsvRow& header, Predictor predict, Request defaults, int jobs,
                               Sink sink, ProgressSink progress)
    : cells_(header),
      predict_(std::move(predict)),
      defaults_(std::move(defaults)),
      jobs_(jobs),
      sink_(std::move(sink)),
      progress_(std::move(progress)) {
  const Node root =
      load_document(hw_folder() / "engines/recipes/energy_benchmark.yaml", kRunRecipe);
  root.only_keys({"source", "networks", "systems", "precisions", "engine", "loads", "boards",
                  "walls", "diffusion"},
                 "");
  diffusion_ = read_diffusion_runs(root.required("diffusion", ""));
  walls_ = read_wall_runs(root.required("walls", ""));
  for (const char* section : {"networks", "systems", "precisions"}) {
    for (const MapEntry& entry : root.required(section, "").entries)
      names_[section][entry.key] = entry.value.as_text(section);
  }
  loads_ = read_energy_loads(root.required("loads", ""));
  for (const MapEntry& entry : root.required("boards", "").entries)
    names_["boards"][entry.key] = entry.value.required("limit_watts", "boards").as_text("boards");
  engine_ = root.required("engine", "").as_text("engine");
}

void EnergyRunBatch::add(CsvRow row, const std::string& problem) {
  PendingRun run;
  run.row = std::move(row);
  run.prediction.error = problem;
  if (problem.empty()) {
    try {
      read(run);
    } catch (const UserError& error) {
      run.prediction.error = error.what();
    }
  }
  runs_.push_back(std::move(run));
}

void EnergyRunBatch::read(PendingRun& run) const {
  const std::string what = cells_.text(run.row, "what");
  if (what == "serving") {
    read_serving(run);
    run.kind = RunKind::kServing;
  } else if (what.find(kUnderCap) != std::string::npos) {
    const std::string board = cells_.text(run.row, "device");
    looked_up(names_.at("boards"), "device", board);
    positive_cell(cells_, run.row, "power_limit_w");
    run.kind = RunKind::kCapped;
  } else if (what == kDiffusionRun) {
    run.request.machine = diffusion_request(diffusion_, cells_, run.row, defaults_);
    run.kind = RunKind::kDiffusion;
  } else if (is_at_the_wall(cells_, run.row)) {
    run.wall = read_wall_run(walls_, cells_, run.row, defaults_);
    run.kind = RunKind::kWall;
  } else {
    throw UserError("what: '" + what +
                    "' is not predicted; serving, network/diffusion, and jobs under a power cap, "
                    "are, and systems whose watts_of are at the wall");
  }
}

void EnergyRunBatch::read_serving(PendingRun& run) const {
  const CsvRow& row = run.row;
  ServeRequest& request = run.request;
  request.machine = defaults_;
  const std::string network = cells_.text(row, "model");
  request.machine.workload =
      workload_named(network, looked_up(names_.at("networks"), "model", network));
  request.machine.system =
      served_system(names_.at("systems"), "device", cells_.text(row, "device"));
  request.machine.dtype = looked_up(names_.at("precisions"), "dtype", cells_.text(row, "dtype"));
  const int devices =
      static_cast<int>(parse_count("n_devices", cells_.text(row, "n_devices"), 1, kMostDevices));
  // Ranks of data parallelism each have sequences of their own; they share the experts.
  const std::string shares = cells_.text(row, "tp");
  const int ranks = share_of(shares, "dp");
  if (ranks < 1 || devices % ranks != 0) {
    throw UserError(
        fmt::format("tp: '{}' does not divide {} devices; write tp1 ep4 dp4", shares, devices));
  }
  request.machine.tp = devices / ranks;
  if (ranks > 1) request.attention_dp = ranks;
  if (share_of(shares, "ep") > 1) request.machine.ep = devices;
  const std::int64_t places = places_of(cells_.text(row, "batch_or_concurrency"));
  looked_up(loads_, "scenario", cells_.text(row, "scenario"))
      .ask(positive_cell(cells_, row, "osl"), places, ranks, request);
  request.engine = engine_;
}

void EnergyRunBatch::note_free_run(const CsvRow& row) {
  const double limit = positive_cell(cells_, row, "power_limit_w");
  FreeRun& known = free_runs_[cells_.text(row, "device") + " " + job_of(cells_, row)];
  if (limit <= known.limit) return;
  known = {limit, positive_cell(cells_, row, "latency_ms"),
           positive_cell(cells_, row, "watts_per_device")};
}

void EnergyRunBatch::predict_capped(PendingRun& run) const {
  const std::string device = cells_.text(run.row, "device");
  const FreeRun& free = free_runs_.at(device + " " + job_of(cells_, run.row));
  const double limit = positive_cell(cells_, run.row, "power_limit_w");
  if (limit >= free.limit) {
    run.prediction.note = "what the others of its job are compared with";
    return;
  }
  const std::string board = looked_up(names_.at("boards"), "device", device);
  const PowerFacts facts =
      load_device_energy({"default"}, Watts(parse_positive("limit_watts", board, kMostWatts)))
          .facts;
  const double factor =
      slow_down_within(Watts(free.watts), Watts(limit * facts.limit_share), facts).factor;
  run.prediction.values["pred_latency_ms"] = free.latency_ms * factor;
}

void EnergyRunBatch::predict_diffusion(PendingRun& run) const {
  const RunSummary summary = predict_(run.request.machine).summary;
  if (!summary.watts) throw UserError("no energy of this system is known");
  RowPrediction& prediction = run.prediction;
  const Interval& all = summary.interval80.at("watts");
  const double boards = std::max(1, run.request.machine.cp);
  const Seconds call(summary.call_s);
  const Seconds time = call + pictures_on_host(diffusion_, run.request.machine);
  const double idle = idle_watts_of(summary);
  const auto of_board = [&](double watts) {
    return (idle + (watts - idle) * (call / time)) / boards;
  };
  const double mean = of_board(*summary.watts);
  const Interval watts{all.low / *summary.watts * mean, all.high / *summary.watts * mean};
  prediction.values = {{"pred_watts_per_device", mean},
                       {"pred_lo_w", watts.low},
                       {"pred_hi_w", watts.high},
                       {"pred_latency_ms", time.value() * kMsPerSecondOfRuns}};
  prediction.intervals = {{"watts_per_device", {watts.low, watts.high}}};
}

void EnergyRunBatch::predict_served() {
  std::vector<ServeRequest> requests;
  std::vector<std::size_t> at;  // the run of each
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i].kind != RunKind::kServing) continue;
    requests.push_back(runs_[i].request);
    at.push_back(i);
  }
  const auto prediction_of = [&requests](std::size_t i, const ServeSummary& summary) {
    return run_prediction(summary, requests[i].machine.tp * std::max(1, requests[i].attention_dp));
  };
  std::vector<RowPrediction> served =
      serve_many(requests, predict_, jobs_, prediction_of, progress_);
  for (std::size_t i = 0; i < served.size(); ++i) runs_[at[i]].prediction = std::move(served[i]);
}

void EnergyRunBatch::finish() {
  const auto each = [this](RunKind kind, const auto& act) {
    for (PendingRun& run : runs_) {
      if (run.kind != kind || !run.prediction.error.empty()) continue;
      if (StopSignals::received() != 0) {
        run.prediction = open_row();
        continue;
      }
      try {
        act(run);
      } catch (const UserError& error) {
        run.prediction.error = error.what();
      }
    }
  };
  each(RunKind::kCapped, [this](PendingRun& run) { note_free_run(run.row); });
  each(RunKind::kCapped, [this](PendingRun& run) { predict_capped(run); });
  each(RunKind::kDiffusion, [this](PendingRun& run) { predict_diffusion(run); });
  each(RunKind::kWall, [this](PendingRun& run) {
    run.prediction.values["pred_wall_watts"] = wall_watts_of(run.wall, predict_);
  });
  predict_served();
  for (const PendingRun& run : runs_) sink_(run.row, run.prediction);
  runs_.clear();
}

}  // namespace foretell
