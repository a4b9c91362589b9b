#include "model/app/tables/serving_batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/app/request/outcome_tag.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/app/workers/worker_pool.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr double kMsOfASecond = 1e3;
constexpr char kRefused = '-';
constexpr char kNextField = '\t';

// Rows with equal keys are served by equal machines.
std::string machine_key(const ServeRequest& request) {
  const Request& machine = request.machine;
  return fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", machine.system, machine.workload,
                     machine.dtype, machine.kv_dtype, machine.tp, machine.pp, request.prefill,
                     request.decode);
}

std::string summary_line(const ServeSummary& summary) {
  const auto triple = [&summary](const char* key, double value, double scale) {
    const Interval& interval = summary.interval80.at(key);
    return fmt::format("{}\t{}\t{}", to_text(value * scale), to_text(interval.low * scale),
                       to_text(interval.high * scale));
  };
  return fmt::format("{}{}\t{}\t{}\t{}", kGoodTag,
                     triple("ttft_s.mean", summary.ttft_s.mean, kMsOfASecond),
                     triple("tpot_s.mean", summary.tpot_s.mean, kMsOfASecond),
                     triple("output_tokens_per_s", summary.output_tokens_per_s, 1), summary.binds);
}

// One figure a row.
std::string figure_line(const RunFigure& figure) {
  return fmt::format("{}{}\t{}\t{}", kGoodTag, to_text(figure.value),
                     to_text(figure.interval80.low), to_text(figure.interval80.high));
}

RowPrediction figure_from(const std::vector<std::string>& fields) {
  RowPrediction prediction;
  const char* names[] = {"pred_value", "pred_value_lo", "pred_value_hi"};
  for (std::size_t i = 0; i < 3; ++i) prediction.values[names[i]] = std::stod(fields.at(i));
  prediction.intervals = {
      {"value", {prediction.values["pred_value_lo"], prediction.values["pred_value_hi"]}}};
  return prediction;
}

RowPrediction prediction_from(const std::string& line, const std::string& note) {
  RowPrediction prediction;
  if (line.empty() || line.front() != kGoodTag) {
    prediction.error = line.empty() ? "internal error: a worker sent nothing" : line.substr(1);
    return prediction;
  }
  const std::vector<std::string> fields = split(line.substr(1), kNextField);
  if (fields.size() == 3) return figure_from(fields);
  const char* names[] = {"pred_ttft_ms", "pred_tpot_ms", "pred_output_tokens_per_s"};
  for (std::size_t i = 0; i < 3; ++i) {
    prediction.values[names[i]] = std::stod(fields.at(3 * i));
    prediction.values[std::string(names[i]) + "_lo"] = std::stod(fields.at(3 * i + 1));
    prediction.values[std::string(names[i]) + "_hi"] = std::stod(fields.at(3 * i + 2));
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
      for (const std::string& one : defaults_.set) point.request.machine.set.push_back(one);
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
  std::map<std::string, std::vector<std::size_t>> by_machine;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].error.empty()) by_machine[machine_key(rows_[i].request)].push_back(i);
  }
  std::vector<std::vector<std::size_t>> groups;
  for (auto& entry : by_machine) groups.push_back(std::move(entry.second));
  const auto outcomes = run_forked(
      groups.size(), jobs_,
      [&](std::size_t group) {
        MachinePool pool(predict_);
        std::string text;
        for (const std::size_t i : groups[group]) {
          std::string line;
          try {
            line = line_of(rows_[i], serve(pool, rows_[i].request).record.summary);
          } catch (const std::exception& error) {
            line = kRefused + std::string(error.what());
          }
          std::replace(line.begin(), line.end(), '\n', ' ');
          text += line + '\n';
        }
        return text;
      },
      [&](std::size_t done) {
        if (progress_) progress_(static_cast<double>(done) / static_cast<double>(groups.size()));
      });
  std::vector<RowPrediction> predictions(rows_.size());
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::vector<std::string> lines = split(outcomes[group].text, '\n');
    for (std::size_t i = 0; i < groups[group].size(); ++i) {
      const std::size_t row = groups[group][i];
      predictions[row] = outcomes[group].finished
                             ? prediction_from(lines.at(i), rows_[row].note)
                             : RowPrediction{{}, "internal error: " + outcomes[group].text, {}};
    }
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!rows_[i].error.empty()) predictions[i].error = rows_[i].error;
    sink_(rows_[i].row, predictions[i]);
  }
  rows_.clear();
}

}  // namespace foretell
