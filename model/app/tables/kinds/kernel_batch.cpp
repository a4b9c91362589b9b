#include "model/app/tables/kinds/kernel_batch.hpp"

#include <algorithm>
#include <memory>

#include "model/app/tables/kinds/attention_block_rows.hpp"
#include "model/app/tables/kinds/layer_table_rows.hpp"
#include "model/app/tables/kinds/neuron_collective_rows.hpp"
#include "model/app/workers/worker_pool.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr double kUsPerSecond = 1e6;

RowPrediction prediction_of(const RowTime& time) {
  const auto us = [](Seconds value) { return value.value() * kUsPerSecond; };
  RowPrediction prediction;
  prediction.error = time.error;
  prediction.values = {
      {"pred_us", us(time.time)}, {"pred_lo_us", us(time.low)}, {"pred_hi_us", us(time.high)}};
  prediction.intervals = {{"latency_us", {us(time.low), us(time.high)}}};
  prediction.parts = time.parts;
  prediction.note = time.note;
  return prediction;
}

// UserError when an option asks for another state than that in which rows of `kind` were measured.
void check_as_measured(const KernelOptions& options, const std::string& kind) {
  const auto refuse = [&](const char* option, const std::string& given, const char* measured) {
    if (given.empty() || given == measured) return;
    throw UserError(std::string(option) + ": " + kind +
                    " of tables is only predicted as measured, '" + measured + "'; leave it out");
  };
  refuse("--l2", options.l2, "warm");
  refuse("--launch", options.launch, "graph");
  refuse("--clock", options.clock, "burst");
}

// Predicts those of `rows` that `read` takes; the others say what is wrong.
template <class Read, class Predict>
KernelAnswer answer_of(const CsvRow& header, const Read& read, const Predict& predict) {
  return [cells = NamedCells(header), read, predict](const std::vector<CsvRow>& rows) {
    std::vector<RowTime> times(rows.size());
    std::vector<decltype(read(cells, rows.front()))> good;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      try {
        good.push_back(read(cells, rows[i]));
        places.push_back(i);
      } catch (const UserError& error) {
        times[i].error = error.what();
      }
    }
    const std::vector<RowTime> answers = predict(good);
    for (std::size_t i = 0; i < answers.size(); ++i) times[places[i]] = answers[i];
    return times;
  };
}

template <class Predictor>
auto predicted_by(std::shared_ptr<Predictor> predictor) {
  return [predictor](const auto& rows) { return predictor->predict(rows); };
}

template <class Predictor>
auto predicted_one_by_one(std::shared_ptr<Predictor> predictor) {
  return [predictor](const auto& rows) {
    std::vector<RowTime> times(rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      try {
        times[i] = predictor->predict(rows[i]);
      } catch (const UserError& error) {
        times[i].error = error.what();
      }
    }
    return times;
  };
}

KernelAnswer gemm_answer(const CsvRow& header, const KernelOptions& options,
                         const std::vector<std::string>& set) {
  const GemmRowOptions known{parse_l2_choice(options.l2), parse_launch(options.launch),
                             parse_sustained(options.clock), set, options.factors};
  return answer_of(header, read_gemm_row, predicted_by(std::make_shared<GemmRowPredictor>(known)));
}

KernelAnswer attention_answer(const CsvRow& header, const KernelOptions& options,
                              const std::vector<std::string>& set) {
  check_as_measured(options, "attention");
  return answer_of(header, read_attention_row,
                   predicted_by(std::make_shared<AttentionRowPredictor>(
                       AttentionRowOptions{set, options.factors})));
}

KernelAnswer operator_answer(const CsvRow& header, const KernelOptions& options,
                             const std::vector<std::string>& set) {
  parse_launch(options.launch);
  KernelOptions others = options;
  others.launch.clear();
  check_as_measured(others, "operators");
  return answer_of(header, read_operator_row,
                   predicted_by(std::make_shared<OperatorRowPredictor>(
                       OperatorRowOptions{options.launch, set, options.factors})));
}

KernelAnswer layer_answer(LayerKind kind, const CsvRow& header, const KernelOptions& options,
                          const std::vector<std::string>& set) {
  check_as_measured(options, layer_kind_name(kind));
  const auto read = [kind](const NamedCells& cells, const CsvRow& row) {
    return read_layer_row(kind, cells, row);
  };
  return answer_of(
      header, read,
      predicted_one_by_one(std::make_shared<LayerRowPredictor>(kind, set, options.factors)));
}

KernelAnswer block_answer(const CsvRow& header, const KernelOptions& options,
                          const std::vector<std::string>& set) {
  check_as_measured(options, "attention_block");
  return answer_of(
      header, read_attention_block_row,
      predicted_one_by_one(std::make_shared<AttentionBlockPredictor>(set, options.factors)));
}

// Rows of Neuron systems and of GPUs may stand in one table.
KernelAnswer collective_answer(const CsvRow& header, const KernelOptions& options,
                               const std::vector<std::string>& set) {
  check_as_measured(options, "collectives");
  const KernelAnswer gpus =
      answer_of(header, read_collective_row,
                predicted_by(std::make_shared<CollectiveRowPredictor>(set, options.factors)));
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
    const std::vector<RowTime> answers = gpus(others);
    for (std::size_t i = 0; i < answers.size(); ++i) times[places[i]] = answers[i];
    return times;
  };
}

}  // namespace

KernelAnswer kernel_answer(const TableLayout& layout, const CsvRow& header,
                           const KernelOptions& options, const std::vector<std::string>& set) {
  if (options.factors.folder == "none") {
    throw UserError(
        "--factors none: rows of kernels are predicted with fitted factors; leave it out, or "
        "name a folder, which `foretell calibrate fit -o FOLDER` writes");
  }
  switch (layout.kind) {
    case TableKind::kGemm:
      return gemm_answer(header, options, set);
    case TableKind::kAttention:
      return attention_answer(header, options, set);
    case TableKind::kCollective:
      return collective_answer(header, options, set);
    case TableKind::kOperator:
      return operator_answer(header, options, set);
    case TableKind::kLayerKernels:
      return layer_answer(layer_kind_of(layout), header, options, set);
    case TableKind::kAttentionBlocks:
      return block_answer(header, options, set);
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
    for (const RowTime& time : answer_(mine)) text += prediction_line(prediction_of(time)) + '\n';
    return text;
  });
  std::vector<RowPrediction> predictions(rows_.size());
  for (std::size_t worker = 0; worker < workers; ++worker) {
    const bool finished = outcomes[worker].finished;
    const std::vector<std::string> lines = split(outcomes[worker].text, '\n');
    for (std::size_t i = worker, line = 0; i < good.size(); i += workers, ++line) {
      if (outcomes[worker].stopped) {
        predictions[good[i]] = open_row();
        continue;
      }
      predictions[good[i]] =
          finished ? prediction_of_line(lines.at(line))
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
