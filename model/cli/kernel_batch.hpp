// Predictions for tables of GPU kernels: rows by the hundred thousand, in blocks, the rows of a
// block shared between forked workers that each simulate theirs in one go.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calib/validate/table_kind.hpp"
#include "model/cli/batch_predictor.hpp"
#include "model/predict/row_time.hpp"
#include "reports/record/csv.hpp"

namespace CLI {
class App;
}

namespace foretell {

// Raw text of the options that kernels depend on beside their row.
struct KernelOptions {
  std::string l2;               // "", "warm", "rotate:5"
  std::string launch;           // "", "graph", "stream"
  std::string clock;            // "", "burst", "sustained"
  std::string held_out_device;  // predicted without what was fitted on it
};

// --l2, --launch, --clock and --without-factors-of.
void add_kernel_options(CLI::App& command, KernelOptions& options);

// Answers rows of one header, in order.
using KernelAnswer = std::function<std::vector<RowTime>(const std::vector<CsvRow>&)>;

// How rows of the kind are answered. UserError when an option is wrong. `set` are overrides of the
// device of every row.
KernelAnswer kernel_answer(const TableLayout& layout, const CsvRow& header,
                           const KernelOptions& options, const std::vector<std::string>& set);

// Is a row one that no factor was fitted to, on any device? UserError for a kind of table whose
// rows are not divided.
using RowTest = std::function<bool(const CsvRow&)>;
RowTest held_out_test(const TableLayout& layout, const CsvRow& header);

// Is the interval of a row judged fairly on it? Not when a factor was fitted to its family, or the
// interval was made from it. Always for kinds of tables whose rows are not divided.
RowTest judges_interval_test(const TableLayout& layout, const CsvRow& header);

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
