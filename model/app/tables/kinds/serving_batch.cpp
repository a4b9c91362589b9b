#include "model/app/tables/kinds/serving_batch.hpp"

#include <utility>

#include "model/app/request/resolve/field_names.hpp"
#include "model/app/serving/request/serve_keys.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/app/tables/serve_many.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kMsOfASecond = 1e3;

// What these tables call the options of a service.
const FieldNames& names_in_served_tables() {
  static const FieldNames kNames = [] {
    FieldNames names = {{"on", "gpu"},
                        {"workload", "model"},
                        {"dtype", "precision"},
                        {"input-len", "isl"},
                        {"output-len", "osl"}};
    names.merge(column_names_of_fields());
    add_service_names(names);
    return names;
  }();
  return kNames;
}

// Watts and joules, where they are known.
void add_energy(const ServeSummary& summary, RowPrediction& prediction) {
  const std::map<std::string, std::optional<double>> known = {
      {"watts", summary.watts},
      {"wall_watts", summary.wall_watts},
      {"joules_per_token", summary.joules_per_token},
      {"joules_per_request", summary.joules_per_request}};
  for (const MeasuredColumn& column : energy_quantities()) {
    const std::optional<double>& value = known.at(column.quantity);
    if (value) prediction.values[column.predicted] = *value;
    const auto interval = summary.interval80.find(column.quantity);
    if (!value || interval == summary.interval80.end()) continue;
    prediction.values[column.predicted + "_lo"] = interval->second.low;
    prediction.values[column.predicted + "_hi"] = interval->second.high;
    prediction.intervals[column.quantity] = interval->second;
  }
}

RowPrediction prediction_of(const ServeSummary& summary) {
  RowPrediction prediction;
  const auto add = [&](const std::string& column, const char* key, double value, double scale) {
    const Interval& interval = summary.interval80.at(key);
    prediction.values["pred_" + column] = value * scale;
    prediction.values["pred_" + column + "_lo"] = interval.low * scale;
    prediction.values["pred_" + column + "_hi"] = interval.high * scale;
    return Interval{interval.low * scale, interval.high * scale};
  };
  prediction.intervals = {
      {"ttft_ms", add("ttft_ms", "ttft_s.mean", summary.ttft_s.mean, kMsOfASecond)},
      {"tpot_ms", add("tpot_ms", "tpot_s.mean", summary.tpot_s.mean, kMsOfASecond)}};
  add("output_tokens_per_s", "output_tokens_per_s", summary.output_tokens_per_s, 1);
  prediction.parts = summary.binds;
  return prediction;
}

// One figure a row.
RowPrediction prediction_of(const RunFigure& figure) {
  RowPrediction prediction;
  prediction.values = {{"pred_value", figure.value},
                       {"pred_value_lo", figure.interval80.low},
                       {"pred_value_hi", figure.interval80.high}};
  prediction.intervals = {{"value", figure.interval80}};
  return prediction;
}

}  // namespace

ServingBatch::ServingBatch(const CsvRow& header, Predictor predict, Request defaults, int jobs,
                           Sink sink, ProgressSink progress)
    : header_(header),
      predict_(std::move(predict)),
      defaults_(std::move(defaults)),
      jobs_(jobs),
      sink_(std::move(sink)),
      progress_(std::move(progress)),
      recipes_(Recipes::load()) {
  if (has_column(header_, "measured_kind")) runs_ = ServedRuns::load();
}

RowPrediction ServingBatch::predict(const PendingPoint& point, const ServeSummary& summary) const {
  RowPrediction prediction =
      runs_ ? prediction_of(ServedRuns::figure_of(cells_of(point.row), summary))
            : prediction_of(summary);
  add_energy(summary, prediction);
  prediction.note = point.note;
  return prediction;
}

ServedCells ServingBatch::cells_of(const CsvRow& row) const {
  ServedCells cells;
  for (std::size_t i = 0; i < header_.size(); ++i) cells[header_[i]] = row[i];
  return cells;
}

void ServingBatch::add(CsvRow row, const std::string& problem) {
  PendingPoint point{std::move(row), {}, "", problem};
  if (problem.empty()) {
    const ServedCells cells = cells_of(point.row);
    try {
      point.request = runs_ ? runs_->request_of(cells) : recipes_.request_of(cells);
      add_stated_columns(cells, point.request);
      if (point.request.machine.power_limit.empty())
        point.request.machine.power_limit = defaults_.power_limit;
      add_settings(defaults_.set, point.request);
      point.request.machine.factors = defaults_.factors;
      point.request.machine.exact = defaults_.exact;
      if (!runs_) point.note = recipes_.assumptions_of(cells);
    } catch (const UserError& error) {
      point.error = with_names(error.what(), names_in_served_tables());
    }
  }
  rows_.push_back(std::move(point));
}

void ServingBatch::finish() {
  std::vector<ServeRequest> requests;
  std::vector<std::size_t> at;  // the row of each
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].error.empty()) continue;
    requests.push_back(rows_[i].request);
    at.push_back(i);
  }
  std::vector<RowPrediction> served = serve_many(
      requests, predict_, jobs_,
      [&](std::size_t i, const ServeSummary& summary) { return predict(rows_[at[i]], summary); },
      progress_);
  std::vector<RowPrediction> predictions(rows_.size());
  for (std::size_t i = 0; i < served.size(); ++i) {
    served[i].error = with_names(served[i].error, names_in_served_tables());
    predictions[at[i]] = std::move(served[i]);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].error.empty()) predictions[i].error = rows_[i].error;
    sink_(rows_[i].row, predictions[i]);
  }
  rows_.clear();
}

}  // namespace foretell
