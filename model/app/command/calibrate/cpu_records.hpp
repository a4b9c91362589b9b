// Measurements of CPUs as `validate` compares them: records of `calibrate measure`, or the table
// that `calibrate import` makes of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calib/fit/cpu_fit.hpp"
#include "calib/measurements/measurement.hpp"
#include "calib/validate/part.hpp"
#include "model/app/tables/batch_predictor.hpp"
#include "model/app/terminal/session.hpp"

namespace foretell {

// Records of any machine, one per line. UserError that names every wrong one with file:line, and
// when there is none.
std::vector<Measurement> read_measurement_lines(const std::string& path);

// Does the file hold records of a CPU, or rows of them?
bool holds_cpu_measurements(const std::string& path);

// UserError when `measured`, the machine that records name ("AMD EPYC (zen4), 2 cores, …"), is
// another one than the host. A text of any other form passes.
void check_measured_here(const std::string& measured, const CpuSystemSpec& host);

// Rows that are fitted to are the fit part; of those held out, two families in ten are the vault.
Part cpu_part(const CpuRow& row);

struct CpuRecordOptions {
  std::string system;   // that was measured; "": the machine that the program runs on
  std::string factors;  // "": the fitted ones; "none"; or a file
  std::vector<std::string> set;
};

class CpuRecords {
 public:
  // UserError for records that are wrong or of another machine than `system` can be, and as
  // cpu_rows_of. What is left out is said.
  CpuRecords(const std::string& path, const CpuRecordOptions& options, const Session& session);

  // Columns that rows can be chosen and grouped by: op, dtype, class, shape, threads, cache,
  // held_out (yes, no), part (fit, judge, vault), and the time.
  static const CsvRow& header();

  // One row per point, the shortest of its rounds. A row that factors were fitted to, or that made
  // the intervals, has no interval. `line` is where that round stands in the file.
  void each(
      const std::function<void(const CsvRow&, std::size_t line, const RowPrediction&)>& sink) const;

 private:
  struct Row {
    CsvRow cells;
    std::size_t line;
    RowPrediction prediction;
  };
  std::vector<Row> rows_;
};

}  // namespace foretell
