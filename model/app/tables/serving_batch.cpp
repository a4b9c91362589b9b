#include "model/app/tables/serving_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/app/tables/serve_many.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr double kMsOfASecond = 1e3;
constexpr char kNextField = '\t';

std::string summary_line(const ServeSummary& summary) {
  const auto triple = [&summary](const char* key, double value, double scale) {
    const Interval& interval = summary.interval80.at(key);
    return fmt::format("{}\t{}\t{}", to_text(value * scale), to_text(interval.low * scale),
                       to_text(interval.high * scale));
  };
  return fmt::format("{}\t{}\t{}\t{}", triple("ttft_s.mean", summary.ttft_s.mean, kMsOfASecond),
                     triple("tpot_s.mean", summary.tpot_s.mean, kMsOfASecond),
                     triple("output_tokens_per_s", summary.output_tokens_per_s, 1), summary.binds);
}

// One figure a row.
std::string figure_line(const RunFigure& figure) {
  return fmt::format("{}\t{}\t{}", to_text(figure.value), to_text(figure.interval80.low),
                     to_text(figure.interval80.high));
}

RowPrediction figure_from(const std::vector<std::string>& fields) {
  RowPrediction prediction;
  const char* names[] = {"pred_value", "pred_value_lo", "pred_value_hi"};
  for (std::size_t i = 0; i < 3; ++i) prediction.values[names[i]] = written_number(fields.at(i));
  prediction.intervals = {
      {"value", {prediction.values["pred_value_lo"], prediction.values["pred_value_hi"]}}};
  return prediction;
}

RowPrediction prediction_from(const ServedLine& line, const std::string& note) {
  RowPrediction prediction;
  if (!line.error.empty()) {
    prediction.error = line.error;
    return prediction;
  }
  const std::vector<std::string> fields = split(line.text, kNextField);
  if (fields.size() == 3) return figure_from(fields);
  const char* names[] = {"pred_ttft_ms", "pred_tpot_ms", "pred_output_tokens_per_s"};
  for (std::size_t i = 0; i < 3; ++i) {
    prediction.values[names[i]] = written_number(fields.at(3 * i));
    prediction.values[std::string(names[i]) + "_lo"] = written_number(fields.at(3 * i + 1));
    prediction.values[std::string(names[i]) + "_hi"] = written_number(fields.at(3 * i + 2));
  }
  prediction.intervals = {
      {"ttft_ms", {prediction.values["pred_ttft_ms_lo"], prediction.values["pred_ttft_ms_hi"]}},
      {"tpot_ms", {prediction.values["pred_tpot_ms_lo"], prediction.values["pred_tpot_ms_hi"]}}};
  prediction.parts = fields.at(9);
  prediction.note = note;
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
  if (std::find(header_.begin(), header_.end(), "measured_kind") != header_.end())
    runs_ = ServedRuns::load();
}

std::string ServingBatch::line_of(const PendingPoint& point, const ServeSummary& summary) const {
  if (!runs_) return summary_line(summary);
  return figure_line(ServedRuns::figure_of(cells_of(point.row), summary));
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
      add_settings(defaults_.set, point.request);
      point.request.machine.factors = defaults_.factors;
      point.request.machine.exact = defaults_.exact;
      if (!runs_) point.note = recipes_.assumptions_of(cells);
    } catch (const UserError& error) {
      point.error = error.what();
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
  const std::vector<ServedLine> served = serve_many(
      requests, predict_, jobs_,
      [&](std::size_t i, const ServeSummary& summary) { return line_of(rows_[at[i]], summary); },
      progress_);
  std::vector<RowPrediction> predictions(rows_.size());
  for (std::size_t i = 0; i < served.size(); ++i) {
    predictions[at[i]] = prediction_from(served[i], rows_[at[i]].note);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].error.empty()) predictions[i].error = rows_[i].error;
    sink_(rows_[i].row, predictions[i]);
  }
  rows_.clear();
}

}  // namespace foretell
