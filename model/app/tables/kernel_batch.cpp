#include "model/app/tables/kernel_batch.hpp"

#include <algorithm>
#include <memory>

#include "model/app/request/outcome_tag.hpp"
#include "model/app/tables/attention_block_rows.hpp"
#include "model/app/tables/kernel_rows.hpp"
#include "model/app/tables/layer_table_rows.hpp"
#include "model/app/tables/neuron_collective_rows.hpp"
#include "model/app/workers/worker_pool.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr double kUsPerSecond = 1e6;
constexpr char kBad = '-';
constexpr char kField = '\t';

std::string as_line(const RowTime& time) {
  if (!time.error.empty()) {
    std::string message = time.error;
    std::replace(message.begin(), message.end(), '\n', ' ');
    return kBad + message;
  }
  const auto us = [](Seconds value) { return to_text(value.value() * kUsPerSecond); };
  return kGoodTag + us(time.time) + kField + us(time.low) + kField + us(time.high) + kField +
         time.parts + kField + time.note;
}

RowPrediction from_line(const std::string& line) {
  RowPrediction prediction;
  if (line.empty() || line.front() != kGoodTag) {
    prediction.error = line.empty() ? "internal error: a worker sent nothing" : line.substr(1);
    return prediction;
  }
  const std::vector<std::string> numbers = split(line.substr(1), kField);
  const double low = std::stod(numbers.at(1));
  const double high = std::stod(numbers.at(2));
  prediction.values = {
      {"pred_us", std::stod(numbers.at(0))}, {"pred_lo_us", low}, {"pred_hi_us", high}};
  prediction.intervals = {{"latency_us", {low, high}}};
  prediction.parts = numbers.at(3);
  prediction.note = numbers.at(4);
  return prediction;
}

}  // namespace

namespace {

// Rows of Neuron systems and of GPUs may stand in one table.
KernelAnswer collective_answer(const CsvRow& header, const KernelOptions& options,
                               const std::vector<std::string>& set) {
  const auto gpus = std::make_shared<CollectiveTableRows>(header, options, set);
  const auto neuron = std::make_shared<NeuronCollectiveRows>(header, set);
  return [gpus, neuron](const std::vector<CsvRow>& rows) {
    std::vector<CsvRow> others;
    std::vector<std::size_t> places;
    std::vector<RowTime> times(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (neuron->serves(rows[i])) {
        times[i] = neuron->answer(rows[i]);
      } else {
        others.push_back(rows[i]);
        places.push_back(i);
      }
    }
    const std::vector<RowTime> answers = gpus->answer(others);
    for (std::size_t i = 0; i < answers.size(); ++i) times[places[i]] = answers[i];
    return times;
  };
}

}  // namespace

KernelAnswer kernel_answer(const TableLayout& layout, const CsvRow& header,
                           const KernelOptions& options, const std::vector<std::string>& set) {
  switch (layout.kind) {
    case TableKind::kGemm: {
      const auto reader = std::make_shared<GemmTableRows>(header, options, set);
      return [reader](const std::vector<CsvRow>& rows) { return reader->answer(rows); };
    }
    case TableKind::kAttention: {
      const auto reader = std::make_shared<AttentionTableRows>(header, options, set);
      return [reader](const std::vector<CsvRow>& rows) { return reader->answer(rows); };
    }
    case TableKind::kCollective: {
      return collective_answer(header, options, set);
    }
    case TableKind::kOperator: {
      const auto reader = std::make_shared<OperatorTableRows>(header, options, set);
      return [reader](const std::vector<CsvRow>& rows) { return reader->answer(rows); };
    }
    case TableKind::kLayerKernels: {
      const auto reader =
          std::make_shared<LayerTableRows>(layer_kind_of(layout), header, options, set);
      return [reader](const std::vector<CsvRow>& rows) { return reader->answer(rows); };
    }
    case TableKind::kAttentionBlocks: {
      const auto reader = std::make_shared<AttentionBlockRows>(header, options, set);
      return [reader](const std::vector<CsvRow>& rows) { return reader->answer(rows); };
    }
    case TableKind::kModels:
    case TableKind::kServing:
    case TableKind::kPower:
    case TableKind::kEnergyRuns:
      break;
  }
  throw InternalError(__FILE__, __LINE__, "a table that is not of kernels");
}

KernelBatch::KernelBatch(KernelAnswer answer, int jobs, Sink sink, ProgressSink progress)
    : answer_(std::move(answer)),
      jobs_(jobs),
      sink_(std::move(sink)),
      progress_(std::move(progress)) {}

void KernelBatch::add(CsvRow row, const std::string& problem) {
  rows_.push_back(std::move(row));
  problems_.push_back(problem);
  if (rows_.size() == kBlockRows) flush();
}

void KernelBatch::finish() { flush(); }

void KernelBatch::flush() {
  std::vector<std::size_t> good;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (problems_[i].empty()) good.push_back(i);
  }
  // Every worker takes each n-th row: neighbours in a table take about as long.
  const std::size_t workers = std::min(good.size(), static_cast<std::size_t>(jobs_));
  const auto outcomes = run_forked(workers, jobs_, [&](std::size_t worker) {
    std::vector<CsvRow> mine;
    for (std::size_t i = worker; i < good.size(); i += workers) mine.push_back(rows_[good[i]]);
    std::string text;
    for (const RowTime& time : answer_(mine)) text += as_line(time) + '\n';
    return text;
  });
  std::vector<RowPrediction> predictions(rows_.size());
  for (std::size_t worker = 0; worker < workers; ++worker) {
    const bool finished = outcomes[worker].finished;
    const std::vector<std::string> lines = split(outcomes[worker].text, '\n');
    for (std::size_t i = worker, line = 0; i < good.size(); i += workers, ++line) {
      predictions[good[i]] =
          finished ? from_line(lines.at(line))
                   : RowPrediction{{}, "internal error: " + outcomes[worker].text, {}};
    }
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (!problems_[i].empty()) predictions[i].error = problems_[i];
    sink_(rows_[i], predictions[i]);
  }
  if (progress_) progress_(1);
  rows_.clear();
  problems_.clear();
}

}  // namespace foretell
