#include "model/tables/sample_collector.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/tables/row_filter.hpp"

namespace foretell {
namespace {

// A measurement above zero; nothing for an empty cell or one that is no such number.
std::optional<double> measurement(const std::string& cell) {
  const std::string_view text = trim(cell);
  double value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = result.ec == std::errc() && result.ptr == text.data() + text.size();
  if (!whole || !std::isfinite(value) || !(value > 0)) return std::nullopt;
  return value;
}

// Is a column a bare number that says nothing without its name?
bool is_size(std::string_view column) {
  static const std::set<std::string_view> kWords = {"id",   "gpu",   "workload", "framework",
                                                    "op",   "phase", "dtype",    "shape",
                                                    "conv", "cache", "batch"};
  return kWords.count(column) == 0;
}

}  // namespace

SampleCollector::SampleCollector(const TableLayout& layout, const CsvRow& header,
                                 const std::vector<std::string>& by) {
  for (const std::string& name : by) group_columns_.push_back(find_column(header, name));
  for (const MeasuredColumn& column : layout.measured) {
    if (has_column(header, column.measured)) {
      measured_.emplace_back(find_column(header, column.measured), column);
    }
  }
  if (has_column(header, "throughput_unit")) unit_column_ = find_column(header, "throughput_unit");
  for (const char* name : {"id",    "gpu",      "workload", "framework", "op",    "phase", "dtype",
                           "shape", "batch",    "b",        "m",         "n",     "k",     "rows",
                           "cols",  "conv",     "n_ranks",  "n_gpus",    "bytes", "isl",   "kv_len",
                           "heads", "kv_heads", "head_dim", "threads",   "cache"}) {
    if (!has_column(header, name)) continue;
    name_columns_.emplace_back(find_column(header, name), is_size(name) ? name : "");
  }
  if (has_column(header, "workload")) network_ = find_column(header, "workload");
  if (measured_.empty()) {
    throw UserError("the table has none of the measured columns of its kind; nothing to compare");
  }
}

bool SampleCollector::is_measured(const CsvRow& row) const {
  return std::any_of(measured_.begin(), measured_.end(), [&row](const auto& entry) {
    return measurement(row[entry.first]).has_value();
  });
}

void SampleCollector::collect(const CsvRow& row, const RowPrediction& prediction,
                              bool judges_interval) {
  for (const auto& [index, column] : measured_) {
    const std::optional<double> measured = measurement(row[index]);
    const auto predicted = prediction.values.find(column.predicted);
    if (!measured || predicted == prediction.values.end() || !allows(row, column)) continue;
    Sample sample;
    for (const std::size_t group : group_columns_) sample.group.push_back(row[group]);
    sample.quantity = column.quantity;
    sample.row = name_of(row);
    sample.parts = prediction.parts;
    if (network_) sample.network = row[*network_];
    sample.comparison = {*measured, predicted->second, std::nullopt};
    const auto interval = prediction.intervals.find(column.quantity);
    if (judges_interval && interval != prediction.intervals.end()) {
      sample.comparison.interval80 = interval->second;
    }
    samples_.push_back(std::move(sample));
  }
}

bool SampleCollector::allows(const CsvRow& row, const MeasuredColumn& column) const {
  if (column.unit_part.empty()) return true;
  return unit_column_ && row[*unit_column_].find(column.unit_part) != std::string::npos;
}

std::string SampleCollector::name_of(const CsvRow& row) const {
  std::vector<std::string> parts;
  for (const auto& [column, shown] : name_columns_) {
    if (row[column].empty()) continue;
    parts.push_back(shown.empty() ? row[column] : shown + ' ' + row[column]);
  }
  return join(parts, " ");
}

}  // namespace foretell
