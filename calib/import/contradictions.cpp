#include "calib/import/contradictions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "calib/validate/left_out_rows.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

// Columns that say nothing about what was measured; measured_kind does.
bool is_outcome(const std::string& column, const std::vector<std::string>& measured) {
  static const std::set<std::string> kOutcomes = {
      "spread", "repeats", "clock_mhz", "power_w", "temperature_c",   "load_average", "notes",
      "flags",  "id",      "use",       "latest",  "throughput_unit", "status",       "message"};
  if (column == "measured_kind") return false;
  return kOutcomes.count(column) > 0 || starts_with(column, "latency_") ||
         starts_with(column, "pred_") || starts_with(column, "measured_") ||
         std::find(measured.begin(), measured.end(), column) != measured.end();
}

// Above zero; 0 for everything else.
double measured_value(const std::string& column, const std::string& cell) {
  try {
    return read_measurement(column, cell).value_or(0);
  } catch (const UserError&) {
    return 0;
  }
}

}  // namespace

std::vector<std::string> measured_columns(const TableLayout& layout, const CsvRow& header) {
  std::vector<std::string> columns;
  for (const MeasuredColumn& column : layout.measured) {
    const bool there = std::find(header.begin(), header.end(), column.measured) != header.end();
    const bool is_new = std::find(columns.begin(), columns.end(), column.measured) == columns.end();
    if (there && is_new) columns.push_back(column.measured);
  }
  return columns;
}

Contradictions::Contradictions(const TableLayout& layout, const CsvRow& header, double tolerance)
    : tolerance_(tolerance) {
  const std::vector<std::string> measured = measured_columns(layout, header);
  for (std::size_t i = 0; i < header.size(); ++i) {
    const bool noted = layout.noted_conditions && header[i] == "notes";
    if (noted || !is_outcome(header[i], measured)) keys_.push_back(i);
  }
  for (const std::string& name : measured) {
    const auto place = std::find(header.begin(), header.end(), name) - header.begin();
    columns_.push_back({name, static_cast<std::size_t>(place), {}});
  }
}

std::vector<Contradiction> Contradictions::add(const CsvRow& row, std::size_t line) {
  std::string key;
  for (const std::size_t i : keys_) key += row[i] + '\x1f';
  const std::size_t hash = std::hash<std::string>()(key);
  std::vector<Contradiction> found;
  for (Column& column : columns_) {
    const double value = measured_value(column.name, row[column.place]);
    if (!(value > 0)) continue;
    const auto [known, is_new] = column.first.emplace(hash, First{value, line});
    if (is_new) continue;
    const double before = known->second.value;
    if (std::max(value, before) <= (1 + tolerance_) * std::min(value, before)) continue;
    found.push_back({known->second.line, column.name,
                     fmt::format("{} contradicts line {}, which has {} for the same", value,
                                 known->second.line, before),
                     std::max(value, before) / std::min(value, before)});
  }
  return found;
}

}  // namespace foretell
