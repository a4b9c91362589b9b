// Turns predicted rows of a table into samples of the quantities that were measured.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calib/validate/accuracy_report.hpp"
#include "calib/validate/table_kind.hpp"
#include "model/app/tables/batch_predictor.hpp"
#include "model/app/tables/kinds/served_rate.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

class SampleCollector {
 public:
  // `by` names the columns that group; with `quantities` these alone count. UserError when a column
  // does not exist or the table has none of the measured columns of its kind.
  SampleCollector(const TableLayout& layout, const CsvRow& header,
                  const std::vector<std::string>& by,
                  const std::vector<std::string>& quantities = {});

  // At least one measured cell that is not empty? UserError that names a cell which is no number
  // above zero.
  bool is_measured(const CsvRow& row) const;
  // Is a time zero, as clocks show one that is shorter than their step?
  bool is_below_clock(const CsvRow& row) const;
  // A row for which is_measured() holds. Without `judges_interval`, the interval of the prediction
  // is not counted.
  void collect(const CsvRow& row, std::size_t line, const RowPrediction& prediction,
               bool judges_interval = true);
  // A row for which is_measured() holds, whether it is predicted or not: for the noise floor.
  void note_repeat(const CsvRow& row);
  // As collect; the part and group of the row are kept.
  void collect_divided(const CsvRow& row, std::size_t line, const RowPrediction& prediction,
                       bool judges_interval, Part part, const std::string& group);
  // Rows on these lines do not count after all.
  void drop(const std::set<std::size_t>& lines);

  const std::vector<Sample>& samples() const { return samples_; }
  const Repeats& repeats() const { return repeats_; }

 private:
  bool allows(const CsvRow& row, const MeasuredColumn& column) const;
  Sample sample_of(const CsvRow& row, std::size_t line, const RowPrediction& prediction) const;
  void collect_rate(const CsvRow& row, std::size_t line, const RowPrediction& prediction,
                    bool judges_interval);
  std::string name_of(const CsvRow& row) const;

  std::vector<std::size_t> group_columns_;
  std::vector<std::size_t> condition_columns_;
  std::vector<std::pair<std::size_t, std::string>> name_columns_;  // and what is put before
  std::vector<std::pair<std::size_t, MeasuredColumn>> measured_;
  std::optional<std::size_t> unit_column_;
  std::optional<std::size_t> network_;
  std::optional<ServedRate> rate_;
  std::vector<Sample> samples_;
  Repeats repeats_;
};

}  // namespace foretell
