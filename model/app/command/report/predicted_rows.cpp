#include "model/app/command/report/predicted_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kStatus = "status";
constexpr const char* kMessage = "message";
constexpr const char* kFailed = "error";

// Whatever the capitals of the file.
std::optional<std::size_t> place_of(const CsvRow& header, const std::string& name) {
  const auto found = std::find_if(header.begin(), header.end(), [&name](const std::string& known) {
    return to_lower(known) == to_lower(name);
  });
  if (found == header.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header.begin());
}

std::size_t required_place(const CsvRow& header, const char* name) {
  const auto place = place_of(header, name);
  FORETELL_CHECK(place.has_value(), "a column that predict adds");
  return *place;
}

std::string known_column(const CsvRow& header, const std::string& name) {
  const auto place = place_of(header, name);
  return place ? header[*place] : "";
}

// "pred_ttft_ms" has "pred_ttft_lo_ms" or "pred_ttft_ms_lo"; "" where the table has neither.
std::string end_of_interval(const CsvRow& header, const std::string& column, const char* end) {
  const std::string last = known_column(header, column + "_" + end);
  const std::size_t unit = column.rfind('_');
  if (!last.empty() || unit == std::string::npos) return last;
  return known_column(header, column.substr(0, unit) + "_" + end + column.substr(unit));
}

std::vector<PredictedQuantity> quantities_of(const TableLayout& layout, const CsvRow& header) {
  std::vector<PredictedQuantity> quantities;
  std::set<std::string> columns;
  const auto add = [&](const std::string& name, const std::string& predicted,
                       const std::string& measured) {
    if (!place_of(header, predicted) || !columns.insert(predicted).second) return;
    quantities.push_back({name, predicted, end_of_interval(header, predicted, "lo"),
                          end_of_interval(header, predicted, "hi"),
                          known_column(header, measured)});
  };
  for (const MeasuredColumn& one : layout.measured) add(one.quantity, one.predicted, one.measured);
  if (!quantities.empty() && quantities.front().low.empty()) {
    quantities.front().low = known_column(header, layout.low);
    quantities.front().high = known_column(header, layout.high);
  }
  for (const MeasuredColumn& one : energy_quantities())
    add(one.quantity, one.predicted, one.measured);
  for (const std::string& column : layout.added) {  // without a measured column of that name
    if (!end_of_interval(header, column, "lo").empty()) add(column, column, "");
  }
  return quantities;
}

std::string cell_of(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_number_float()) return to_text(value.get<double>());
  return value.is_string() ? value.get<std::string>() : value.dump();
}

// The kind of a table is known by its columns, whatever their capitals.
const TableLayout& layout_of_rows(const CsvRow& header, const std::string& path) {
  CsvRow names;
  for (const std::string& name : header) names.push_back(to_lower(name));
  return recognise_table(names, path);
}

PredictedRowsReport read_json_rows(const std::string& path) {
  InputFile file(path);
  std::optional<PredictedRowsReport> report;
  CsvRow header;
  std::string text;
  for (std::size_t line = 1; file.read_line(text); ++line) {
    if (trim(text).empty()) continue;
    const std::string where = fmt::format("{}:{}", path, line);
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_object()) {
      throw UserError(where + ": a row of `predict --format json`, but not whole; write it again");
    }
    CsvRow names;
    CsvRow cells;
    for (const auto& [name, value] : json.items()) {
      names.push_back(name);
      cells.push_back(cell_of(value));
    }
    if (!report) {
      header = names;
      report.emplace(layout_of_rows(header, path), header);
    }
    if (names != header) {
      throw UserError(where +
                      ": other columns than in the first line; write each table to a file "
                      "of its own");
    }
    report->add(std::move(cells), line);
  }
  FORETELL_CHECK(report.has_value(), "a file with a row");
  return std::move(*report);
}

PredictedRowsReport read_csv_rows(const std::string& path) {
  CsvReader table(path);
  PredictedRowsReport report(layout_of_rows(table.header(), path), table.header());
  CsvRow row;
  while (table.next(row)) report.add(row, table.line());
  return report;
}

}  // namespace

PredictedRowsReport::PredictedRowsReport(const TableLayout& layout, const CsvRow& header,
                                         std::size_t row_bytes)
    : status_(required_place(header, kStatus)),
      message_(required_place(header, kMessage)),
      bytes_left_(row_bytes) {
  rows_.header = header;
  rows_.quantities = quantities_of(layout, header);
}

void PredictedRowsReport::add(CsvRow cells, std::size_t line) {
  constexpr std::size_t kCellBytes = 3;  // quotes and comma
  ++rows_.total;
  if (cells[status_] == kFailed) {
    ++rows_.failed;
    failed_.add(cells[message_], line);
  }
  std::size_t size = kCellBytes * cells.size();
  for (const std::string& cell : cells) size += cell.size();
  if (size > bytes_left_) {
    bytes_left_ = 0;
    return;
  }
  bytes_left_ -= size;
  rows_.rows.push_back(std::move(cells));
}

ReportContent PredictedRowsReport::content() {
  ReportContent content;
  content.problems = failed_.texts();
  content.predicted = std::move(rows_);
  return content;
}

bool is_predicted_line(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_discarded()) {
    return json.is_object() && json.contains(kStatus) && json.contains(kMessage) &&
           !json.contains("study");
  }
  const std::vector<std::string> names = split(std::string(trim(line)), ',');
  return names.size() > 2 && names.back() == kMessage && names[names.size() - 2] == kStatus;
}

ReportContent read_predicted_rows(const std::string& path) {
  std::string line;
  InputFile(path).read_line(line);
  const bool is_json = Json::accept(line);
  return (is_json ? read_json_rows(path) : read_csv_rows(path)).content();
}

}  // namespace foretell
