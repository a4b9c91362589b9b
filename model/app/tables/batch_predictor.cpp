#include "model/app/tables/batch_predictor.hpp"

#include <fmt/format.h>

#include <utility>

#include "model/app/request/parallel_predict.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/tables/kinds/engine_rows.hpp"
#include "model/app/tables/serve_many.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {
namespace {

constexpr double kShownShare = 0.01;

// Shares of the time that each resource is what the network waits for, the largest first.
std::string parts_of(const RunRecord& record) {
  double all = 0;
  for (const OperatorRecord& op : record.operators) all += op.duration_s;
  std::string text;
  for (const OperatorRecord& op : record.operators) {
    if (op.duration_s < kShownShare * all || op.critical.empty()) continue;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", op.critical,
                        100 * op.duration_s / all);
  }
  return text;
}

// Notes of values that the row does not state.
std::vector<std::string> assumed_in(const RunRecord& record, const FieldNames& names) {
  std::vector<std::string> texts;
  for (const std::string& note : record.context.unstated) texts.push_back(with_names(note, names));
  return texts;
}

RowPrediction prediction_of(const PredictionOutcome& outcome, const FieldNames& names) {
  if (outcome.stopped) return open_row();
  if (!outcome.record) return {{}, with_names(outcome.error, names), {}};
  const RunRecord& record = *outcome.record;
  return {predicted_values(record),    "",
          predicted_intervals(record), parts_of(record),
          record.context.likeness,     predicted_texts(record),
          assumed_in(record, names)};
}

// With the rate as the row counts it.
RowPrediction with_rate(RowPrediction prediction, double scale) {
  for (const char* column :
       {"pred_throughput", "pred_throughput_lo", "pred_throughput_hi", kThroughputAllTokens}) {
    const auto found = prediction.values.find(column);
    if (found != prediction.values.end()) found->second *= scale;
  }
  for (const char* column : {"throughput", kThroughputAllTokens}) {
    const auto interval = prediction.intervals.find(column);
    if (interval == prediction.intervals.end()) continue;
    interval->second = {scale * interval->second.low, scale * interval->second.high};
  }
  return prediction;
}

// Of a good one also in its note.
RowPrediction with_assumed(RowPrediction prediction, const std::string& more) {
  if (!prediction.error.empty() || prediction.is_open) return prediction;
  if (!more.empty()) prediction.assumed.push_back(more);
  if (prediction.assumed.empty()) return prediction;
  if (!prediction.note.empty()) prediction.note += "; ";
  prediction.note += join(prediction.assumed, "; ");
  return prediction;
}

}  // namespace

BatchPredictor::BatchPredictor(const RowReader& reader, Predictor predict, int jobs, Sink sink,
                               ProgressSink progress)
    : reader_(reader),
      predict_(std::move(predict)),
      jobs_(jobs),
      sink_(std::move(sink)),
      progress_(std::move(progress)) {}

void BatchPredictor::add(CsvRow row, const std::string& problem) {
  PendingRow pending{std::move(row), "", problem, 1, ""};
  if (problem.empty()) {
    try {
      auto [request, engine, rate_scale, assumed] = reader_.question(pending.row);
      pending.rate_scale = rate_scale;
      pending.assumed = assumed;
      pending.key = request_json(request) + engine;
      const bool is_new = known_.try_emplace(pending.key).second;
      if (is_new && engine.empty()) {
        keys_.push_back(pending.key);
        requests_.push_back(std::move(request));
      } else if (is_new) {
        service_keys_.push_back(pending.key);
        services_.push_back(generation_by(engine, request));
      }
    } catch (const UserError& error) {
      pending.error = with_names(error.what(), reader_.names());
    }
  }
  rows_.push_back(std::move(pending));
  if (rows_.size() == kBlockRows) flush();
}

void BatchPredictor::finish() { flush(); }

void BatchPredictor::predict_calls(const ProgressSink& progress) {
  const auto outcomes = predict_all(predict_, requests_, jobs_, Detail::kByResource, progress);
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    known_[keys_[i]] = prediction_of(outcomes[i], reader_.names());
  }
}

void BatchPredictor::predict_services(const ProgressSink& progress) {
  const auto prediction_of = [this](std::size_t i, const ServeSummary& summary) {
    return generation_prediction(services_[i], summary);
  };
  std::vector<RowPrediction> served =
      serve_many(services_, predict_, jobs_, prediction_of, progress);
  for (std::size_t i = 0; i < served.size(); ++i) known_[service_keys_[i]] = std::move(served[i]);
}

void BatchPredictor::flush() {
  const auto all = static_cast<double>(requests_.size() + services_.size());
  const double calls = all > 0 ? static_cast<double>(requests_.size()) / all : 1;
  const auto part = [this](double begin, double share) {
    return [this, begin, share](double done) {
      if (progress_) progress_(begin + share * done);
    };
  };
  predict_calls(part(0, calls));
  predict_services(part(calls, 1 - calls));
  for (const PendingRow& row : rows_) {
    if (row.key.empty()) {
      sink_(row.row, RowPrediction{{}, row.error, {}});
      continue;
    }
    RowPrediction prediction = known_.at(row.key);
    if (row.rate_scale != 1) prediction = with_rate(std::move(prediction), row.rate_scale);
    sink_(row.row, with_assumed(std::move(prediction), row.assumed));
  }
  rows_.clear();
  requests_.clear();
  keys_.clear();
  services_.clear();
  service_keys_.clear();
}

}  // namespace foretell
