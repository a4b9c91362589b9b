// Measurements of CPUs as `validate` compares them: records of `calibrate measure`, or the table
// that `calibrate import` makes of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calib/measurements/measurement.hpp"
#include "model/tables/batch_predictor.hpp"
#include "model/terminal/session.hpp"

namespace foretell {

// Records of any machine, one per line. UserError with file:line, and when there is none.
std::vector<Measurement> read_measurement_lines(const std::string& path);

// Does the file hold records of a CPU, or rows of them?
bool holds_cpu_measurements(const std::string& path);

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
  // held_out (yes, no), and the time.
  static const CsvRow& header();

  // One row per point, the shortest of its rounds. A row that factors were fitted to, or that made
  // the intervals, has no interval.
  void each(const std::function<void(const CsvRow&, const RowPrediction&)>& sink) const;

 private:
  std::vector<std::pair<CsvRow, RowPrediction>> rows_;
};

}  // namespace foretell
