// Predictions for tables of GPU kernels: rows by the hundred thousand, in blocks, the rows of a
// block shared between forked workers that each simulate theirs in one go.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calib/validate/table_kind.hpp"
#include "model/app/tables/batch_predictor.hpp"
#include "model/app/tables/kinds/kernel_rows.hpp"
#include "model/predict/rows/row_time.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

// Answers rows of one header, in order.
using KernelAnswer = std::function<std::vector<RowTime>(const std::vector<CsvRow>&)>;

// How rows of the kind are answered. UserError when an option is wrong. `set` are overrides of the
// device of every row.
KernelAnswer kernel_answer(const TableLayout& layout, const CsvRow& header,
                           const KernelOptions& options, const std::vector<std::string>& set);

class KernelBatch {
 public:
  using Sink = BatchPredictor::Sink;
  using ProgressSink = BatchPredictor::ProgressSink;

  KernelBatch(KernelAnswer answer, int jobs, Sink sink, ProgressSink progress = {});

  // A row, with what is wrong with its shape ("" when nothing is).
  void add(CsvRow row, const std::string& problem);
  void finish();  // the rest; call it once, last

  static constexpr std::size_t kBlockRows = 32768;

 private:
  void flush();

  KernelAnswer answer_;
  int jobs_;
  Sink sink_;
  ProgressSink progress_;
  std::vector<CsvRow> rows_;
  std::vector<std::string> problems_;
};

}  // namespace foretell
