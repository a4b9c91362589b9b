#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "calib/validate/family_interval.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/table_kind.hpp"
#include "hw/engines/engine_catalog.hpp"
#include "model/app/command/calibrate/fit_part_rows.hpp"
#include "model/app/command/calibrate/row_intervals.hpp"
#include "model/app/request/record/intervals.hpp"
#include "model/app/request/resolve/resolved_workload.hpp"
#include "model/app/serving/request/recipes.hpp"
#include "model/app/serving/request/served_runs.hpp"
#include "model/app/tables/kinds/serving_batch.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

// Entries of the file are kept within what its reader takes.
constexpr double kWidest = 10;

struct ServedClass {
  std::string device;  // as in the table of intervals
  std::string family;
  IntervalQuantity quantity;
  bool operator<(const ServedClass& other) const {
    return std::tie(device, family, quantity) <
           std::tie(other.device, other.family, other.quantity);
  }
};
using ServedClasses = std::map<ServedClass, std::vector<RatioSample>>;

class ServedReader {
 public:
  ServedReader(const RowIntervalOptions& options, const Session& session)
      : options_(options),
        session_(session),
        rows_(options.table, options.where),
        recipes_(Recipes::load()) {
    const bool states_times = has_column(rows_.header(), "ttft_ms");
    if (has_column(rows_.header(), "measured_kind")) runs_ = ServedRuns::load();
    if (rows_.layout().kind != TableKind::kServing || (!states_times && !runs_)) {
      throw UserError(options.table + ": is of kind " + rows_.layout().name +
                      "; expected a table of served points, with the columns gpu, model, "
                      "framework, concurrency, isl, osl, ttft_ms and tpot_ms, or of served runs, "
                      "with load_kind, measured_kind and value");
    }
  }

  // For runs whose requests are all there at once.
  bool is_offline() const { return runs_.has_value(); }

  ServedClasses read() {
    const RowGroup group = row_group(rows_.layout(), rows_.header());
    Progress progress(session_, "serving");
    ServingBatch batch(
        rows_.header(), session_.predict, {}, options_.jobs,
        [&](const CsvRow& row, const RowPrediction& prediction) {
          if (prediction.error.empty()) take(row, group(row), prediction);
        },
        [&](double share) { progress.update(share); });
    rows_.each([&](const CsvRow& row) { batch.add(row, ""); });
    batch.finish();
    return std::move(classes_);
  }

  // What of the host times of its engines was chosen with a configuration family in view.
  const ChosenNumbers& chosen(IntervalQuantity quantity) const { return chosen_.at(quantity); }

 private:
  void take(const CsvRow& row, const std::string& group, const RowPrediction& prediction) {
    ServedCells cells;
    for (std::size_t i = 0; i < row.size(); ++i) cells[rows_.header()[i]] = row[i];
    if (runs_) {
      chosen_[IntervalQuantity::kCall][group].insert(cells["framework"]);
      take_run(runs_->request_of(cells), cells, group, prediction);
      return;
    }
    const ServeRequest request = recipes_.request_of(cells);
    const std::string device(served_device(!request.prefill.empty()));
    const std::string& family = family_of(request.machine.workload);
    note_chosen(group, request);
    for (const IntervalQuantity quantity : {IntervalQuantity::kTtft, IntervalQuantity::kTpot}) {
      const std::string column = std::string(interval_quantity_name(quantity)) + "_ms";
      const auto measured = read_measurement(column, cells[column]);
      if (!measured) continue;
      classes_[{device, family, quantity}].push_back(
          {group, *measured / prediction.values.at("pred_" + column)});
    }
  }

  // The host times of its engine that the file says were chosen. Those of a step are one level of
  // all steps; those of a prompt count one by one, as each moves first tokens of other loads: of
  // launches short prompts, of answers many clients, of first calls cold servers.
  void note_chosen(const std::string& group, const ServeRequest& request) {
    const LoadedEngine engine = engines_.load(request.engine);
    const std::vector<std::string>& set = request.machine.set;
    const bool cold = std::find(set.begin(), set.end(), "engine.host.cold=yes") != set.end();
    chosen_[IntervalQuantity::kTpot][group].insert(engine.spec.engine);
    std::set<std::string>& prompts = chosen_[IntervalQuantity::kTtft][group];
    for (const Parameter& parameter : engine.parameters) {
      const std::string& path = parameter.path;
      if (!starts_with(path, "engine.host.") || !starts_with(parameter.why, "chosen")) continue;
      const bool of_steps = ends_with(path, ".per_step") || ends_with(path, ".per_sequence");
      const bool of_first = starts_with(path, "engine.host.first_");
      if (of_steps || (of_first && !cold)) continue;
      prompts.insert(fmt::format("{} {} {}", engine.spec.engine, path, parameter.value));
    }
    if (prompts.empty()) prompts.insert(engine.spec.engine);
  }

  // A throughput; its times are the reciprocal.
  void take_run(const ServeRequest& request, const ServedCells& cells, const std::string& group,
                const RowPrediction& prediction) {
    const std::string kind = served_cell(cells, "measured_kind");
    const auto measured = read_measurement("value", served_cell(cells, "value"));
    if (request.offline == 0 || !ends_with(kind, "_per_s") || !measured) return;
    classes_[{std::string(kServedOffline), family_of(request.machine.workload),
              IntervalQuantity::kCall}]
        .push_back({group, prediction.values.at("pred_value") / *measured});
  }

  const std::string& family_of(const std::string& workload) {
    const auto [known, is_new] = families_.try_emplace(workload);
    if (is_new) {
      Request network;
      network.workload = workload;
      ResolvedWorkload resolved;
      resolve_workload(network, "bf16", resolved);
      known->second = served_interval_family(resolved.model.experts > 0);
    }
    return known->second;
  }

  const RowIntervalOptions& options_;
  const Session& session_;
  FitPartRows rows_;
  Recipes recipes_;
  std::optional<ServedRuns> runs_;               // of a table with one figure a row
  std::map<std::string, std::string> families_;  // by network
  ServedClasses classes_;
  EngineCatalog engines_;
  std::map<IntervalQuantity, ChosenNumbers> chosen_{
      {IntervalQuantity::kCall, {}}, {IntervalQuantity::kTtft, {}}, {IntervalQuantity::kTpot, {}}};
};

std::string entry_text(const ServedClass& key, IntervalQuantity quantity,
                       const FamilyInterval& made, const std::string& why) {
  double left_out = 0;
  for (const auto& [family, share] : made.left_out)
    left_out += share / static_cast<double>(made.left_out.size());
  return fmt::format(
      "  - device: {}\n    family: {}\n    matmul: any\n    quantity: {}\n    low: {:.4f}\n"
      "    high: {:.4f}\n    within: {:.4f}\n    between: {:.4f}\n    groups: {}\n    rows: {}\n"
      "    left_out: {:.3f}\n    why: {}\n",
      key.device, key.family, interval_quantity_name(quantity),
      std::max(made.interval.low, 1 / kWidest), std::min(made.interval.high, kWidest), made.within,
      made.between, made.left_out.size(), made.rows, left_out, why);
}

}  // namespace

void calibrate_served_intervals(const RowIntervalOptions& options, const Session& session) {
  ServedReader reader(options, session);
  const ServedClasses classes = reader.read();
  std::string text =
      "# Intervals of unmeasured services, made by `foretell calibrate intervals --kind\n"
      "# serving` from the served points or runs of the fit part, every configuration family "
      "(network,\n"
      "# GPU, engine, precision, together or apart) left out in turn; "
      "calib/validate/family_interval.hpp\n"
      "# says how. Standard deviations are of ln(measured / predicted).\n"
      "default: {low: 0.7, high: 1.4, why: the default stands in intervals.yaml}\n"
      "intervals:\n";
  std::size_t made_classes = 0;
  for (const auto& [key, samples] : classes) {
    std::set<std::string> groups;
    for (const RatioSample& sample : samples) groups.insert(sample.network);
    const std::string name =
        fmt::format("{} of networks {}, {}", interval_quantity_name(key.quantity),
                    key.family == served_interval_family(true) ? "with experts" : "without experts",
                    key.device);
    if (groups.size() < 2) {
      session.say(fmt::format("foretell: {}: of one family alone; no interval", name));
      continue;
    }
    const FamilyInterval made = family_interval80(samples, reader.chosen(key.quantity));
    ++made_classes;
    const std::string why = fmt::format(
        "rows of {} families; the others make an interval that holds {:.0f} % of the rows",
        groups.size(), 100 * made.rows_left_out);
    text += entry_text(key, key.quantity, made, why);
    if (key.quantity == IntervalQuantity::kTpot) {
      text += entry_text(key, IntervalQuantity::kCall, made, "as of the time per token");
    }
    session.say(fmt::format(
        "foretell: {}: {} rows of {} families; within {:.1f} %, between {:.1f} %; 80 % interval "
        "{:.3f} to {:.3f}; holds {:.1f} % of the rows of families left out",
        name, made.rows, groups.size(), 100 * made.within, 100 * made.between, made.interval.low,
        made.interval.high, 100 * made.rows_left_out));
  }
  if (made_classes == 0) {
    throw UserError(options.table +
                    ": no class of services (together, apart or offline, with or without experts) "
                    "has rows of two families in the fit part; an interval needs two");
  }
  write_intervals(options.output,
                  reader.is_offline() ? "offline_intervals.yaml" : "served_intervals.yaml", text,
                  session);
}

}  // namespace foretell
