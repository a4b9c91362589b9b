#include "calib/import/read_measurements.hpp"

#include <algorithm>
#include <ctime>
#include <optional>
#include <set>

#include "calib/import/contradictions.hpp"
#include "calib/import/record_tables.hpp"
#include "calib/import/translated_columns.hpp"
#include "calib/validate/left_out_rows.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

struct TimeUnit {
  const char* column;
  double in_us;
};
constexpr TimeUnit kTimeUnits[] = {{"latency_ns", 1e-3}, {"latency_ms", 1e3}, {"latency_s", 1e6}};
constexpr const char* kMicroseconds = "latency_us";

std::size_t place_of(const CsvRow& header, const std::string& column) {
  return static_cast<std::size_t>(std::find(header.begin(), header.end(), column) - header.begin());
}

bool starts_json(const std::string& path) {
  InputFile file(path);
  char first = 0;
  while (file.read(&first, 1) == 1) {
    if (first != ' ' && first != '\n' && first != '\r' && first != '\t') return first == '{';
  }
  return false;
}

// "latency_ms" as "latency_us": which column, and by what its cells are multiplied.
struct TimeColumn {
  std::size_t place = 0;
  std::string name;
  double in_us = 1;
};

TimeColumn rename_time(CsvRow& header, const std::string& path) {
  TimeColumn found{header.size(), "", 1};
  for (const TimeUnit& unit : kTimeUnits) {
    const std::size_t place = place_of(header, unit.column);
    if (place == header.size()) continue;
    if (found.place < header.size() || place_of(header, kMicroseconds) < header.size()) {
      throw UserError(path + ":1: two columns of times; keep one of them");
    }
    found = {place, unit.column, unit.in_us};
    header[place] = kMicroseconds;
  }
  return found;
}

// The cell in microseconds; an empty one stays empty. UserError for what is no time.
std::string scaled(const std::string& cell, const TimeColumn& column) {
  const std::optional<double> time = read_measurement(column.name, cell);
  return time ? to_text(*time * column.in_us) : "";
}

// Fills a column, adding it at the end where it is not there, with `given` where it is empty.
void fill(MeasuredTable& table, const std::string& column, const std::string& given) {
  const std::size_t place = place_of(table.header, column);
  if (place == table.header.size()) {
    table.header.push_back(column);
    for (CsvRow& row : table.rows) row.emplace_back();
  }
  for (CsvRow& row : table.rows) {
    if (row[place].empty()) row[place] = given;
  }
}

// In UTC: the latest day that it is anywhere.
std::string tomorrow() {
  constexpr std::time_t kDay = 86'400;  // seconds
  const std::time_t then = std::time(nullptr) + kDay;
  std::tm utc{};
  gmtime_r(&then, &utc);
  char text[16] = {};
  std::strftime(text, sizeof text, "%Y-%m-%d", &utc);
  return text;
}

void fill_provenance(MeasuredTable& table, const MeasurementProvenance& given,
                     const std::string& path, std::vector<std::string>& problems) {
  fill(table, kMeasuredBy, given.source);
  fill(table, kMeasuredOn, given.machine);
  fill(table, kMeasuredDate, given.date);
  fill(table, kMeasuredWith, given.software);
  std::vector<std::string> missing;
  const auto require = [&](const char* column, const char* what) {
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      if (!table.cell(i, column).empty()) continue;
      missing.emplace_back(what);
      return;
    }
  };
  require(kMeasuredBy, "--source (who measured)");
  require(kMeasuredOn, "--machine (on what)");
  require(kMeasuredDate, "--date (when)");
  if (!missing.empty()) {
    const std::string problem = path + ": no provenance; give " + join(missing, ", ") +
                                ", or a YAML file with these keys by --provenance, to `foretell "
                                "calibrate import`";
    if (std::find(problems.begin(), problems.end(), problem) == problems.end()) {
      problems.push_back(problem);  // once, of all parts of the file
    }
  }
  std::set<std::string> named;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::string date = table.cell(i, kMeasuredDate);
    const bool is_one = is_date(date);
    if (date.empty() || (is_one && date <= tomorrow()) || !named.insert(date).second) continue;
    problems.push_back(path + ":" + std::to_string(table.lines[i]) + ": " +
                       (is_one ? date + " is not over yet; nothing can have been measured then"
                               : "'" + date + "' is no date like 2026-01-31"));
  }
}

void spell_devices(MeasuredTable& table) {
  const std::size_t place = place_of(table.header, "gpu");
  if (place == table.header.size()) return;
  const GpuCatalog catalog;
  std::map<std::string, std::string> spelled;
  for (CsvRow& row : table.rows) {
    const auto [known, is_new] = spelled.emplace(row[place], row[place]);
    if (is_new && catalog.has_system(row[place])) known->second = catalog.find_system(row[place]);
    row[place] = known->second;
  }
}

std::vector<MeasuredTable> read_csv(const std::string& path, std::vector<std::string>& problems) {
  CsvReader csv(path);
  MeasuredTable table;
  table.header = csv.header();
  table.notes = translate_columns(table.header);
  const TimeColumn time = rename_time(table.header, path);
  const TableLayout& layout = recognise_table(table.header, path);
  table.kind = layout.kind;
  table.name = layout.name;
  const std::vector<std::string> measured = measured_columns(layout, table.header);
  if (measured.empty()) {
    throw UserError(path + ":1: nothing is measured; expected a column " +
                    layout.measured.front().measured);
  }
  CsvRow row;
  std::string problem;
  while (csv.next(row, problem)) {
    const std::string where = path + ":" + std::to_string(csv.line()) + ": ";
    if (!problem.empty()) {
      problems.push_back(problem);
      continue;
    }
    try {
      if (time.place < row.size()) row[time.place] = scaled(row[time.place], time);
    } catch (const UserError& error) {
      problems.push_back(where + error.what());
      continue;
    }
    if (std::all_of(measured.begin(), measured.end(), [&](const std::string& column) {
          return row[place_of(table.header, column)].empty();
        })) {
      problems.push_back(where + "the row has no measurement; leave it out");
      continue;
    }
    table.rows.push_back(row);
    table.lines.push_back(csv.line());
  }
  const std::size_t dtype = place_of(table.header, "dtype");
  for (CsvRow& cells : table.rows) {
    if (dtype < cells.size()) cells[dtype] = translated_dtype(cells[dtype]);
  }
  if (table.kind == TableKind::kOperator) return divided_operators(std::move(table));
  return {std::move(table)};
}

}  // namespace

std::string MeasuredTable::cell(std::size_t row, const std::string& column) const {
  const std::size_t place = place_of(header, column);
  return place == header.size() ? "" : rows[row][place];
}

std::vector<MeasuredTable> read_measurements(const std::string& path,
                                             const MeasurementProvenance& given,
                                             std::vector<std::string>& problems) {
  std::vector<MeasuredTable> tables;
  if (starts_json(path)) {
    tables = record_tables(path, problems);
  } else {
    tables = read_csv(path, problems);
  }
  for (MeasuredTable& table : tables) {
    fill_provenance(table, given, path, problems);
    spell_devices(table);
  }
  return tables;
}

std::string measured_table_text(const MeasuredTable& table) {
  std::string text = to_csv(table.header);
  for (const CsvRow& row : table.rows) text += to_csv(row);
  return text;
}

MeasurementProvenance load_provenance(const std::string& path) {
  const Node root = load_document(path);
  root.only_keys({"source", "machine", "date", "software"}, "");
  const auto text = [&root](const char* key) { return root.required(key, "").as_text(key); };
  MeasurementProvenance provenance{text("source"), text("machine"), text("date"), ""};
  if (const Node* software = root.find("software")) {
    provenance.software = software->as_text("software");
  }
  return provenance;
}

}  // namespace foretell
