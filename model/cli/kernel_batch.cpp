#include "model/cli/kernel_batch.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "calib/fit/gemm_fit.hpp"
#include "calib/fit/kernel_fit.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/cli/calibrate_collective.hpp"
#include "model/cli/calibrate_operator.hpp"
#include "model/cli/kernel_rows.hpp"
#include "model/cli/outcome_tag.hpp"
#include "model/cli/worker_pool.hpp"

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
         time.parts;
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
  return prediction;
}

}  // namespace

void add_kernel_options(CLI::App& command, KernelOptions& options) {
  command
      .add_option("--l2", options.l2,
                  "what kernels find in L2: warm, or rotate:N for N copies of the weights in turn "
                  "(default: as the tables were measured)")
      ->type_name("STATE");
  command
      .add_option("--launch", options.launch,
                  "how kernels are launched: graph or stream (default: graph)")
      ->type_name("KIND");
  command
      .add_option("--clock", options.clock,
                  "clocks of a short burst, or sustained under the power limit (default: burst)")
      ->type_name("KIND");
  command
      .add_option("--without-factors-of", options.held_out_device,
                  "predict this GPU from its neighbours, as one that was never measured")
      ->type_name("GPU");
}

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
      const auto reader = std::make_shared<CollectiveTableRows>(header, options, set);
      return [reader](const std::vector<CsvRow>& rows) { return reader->answer(rows); };
    }
    case TableKind::kOperator: {
      const auto reader = std::make_shared<OperatorTableRows>(header, options, set);
      return [reader](const std::vector<CsvRow>& rows) { return reader->answer(rows); };
    }
    case TableKind::kModels:
      break;
  }
  throw InternalError(__FILE__, __LINE__, "a table that is not of kernels");
}

RowTest held_out_test(const TableLayout& layout, const CsvRow& header) {
  switch (layout.kind) {
    case TableKind::kGemm: {
      const NamedCells cells(header);
      return [cells](const CsvRow& row) {
        return is_held_out_family(cells.count(row, "n", 1, kMaxGemmSide),
                                  cells.count(row, "k", 1, kMaxGemmSide));
      };
    }
    case TableKind::kAttention: {
      const NamedCells cells(header);
      return [cells](const CsvRow& row) {
        const AttentionShape shape = read_attention_row(cells, row).shape;
        return is_held_out_heads(shape.heads, shape.key_heads, shape.head_dim);
      };
    }
    case TableKind::kCollective: {
      const NamedCells cells(header);
      return [cells](const CsvRow& row) {
        return is_held_out_collective(read_collective_row(cells, row).shape.ranks);
      };
    }
    case TableKind::kOperator: {
      const NamedCells cells(header);
      return [cells](const CsvRow& row) {
        return is_held_out_operator(read_operator_row(cells, row));
      };
    }
    default:
      throw UserError("--held-out: tables of kind " + layout.name +
                      " are not divided row by row; leave it out");
  }
}

RowTest judges_interval_test(const TableLayout& layout, const CsvRow& header) {
  if (layout.kind == TableKind::kModels) return [](const CsvRow&) { return true; };
  const NamedCells cells(header);
  const RowTest held_out = held_out_test(layout, header);
  const auto makes = [kind = layout.kind, cells](const CsvRow& row) {
    switch (kind) {
      case TableKind::kGemm:
        return makes_interval(cells.count(row, "n", 1, kMaxGemmSide),
                              cells.count(row, "k", 1, kMaxGemmSide));
      case TableKind::kAttention: {
        const AttentionShape shape = read_attention_row(cells, row).shape;
        return makes_interval(shape.heads, shape.key_heads, shape.head_dim);
      }
      case TableKind::kCollective:
        return collective_makes_interval(read_collective_row(cells, row).shape);
      default:
        return operator_makes_interval(read_operator_row(cells, row));
    }
  };
  return [held_out, makes](const CsvRow& row) { return held_out(row) && !makes(row); };
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
