#include "reports/render/output_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/json_lines.hpp"
#include "reports/record/json_text.hpp"
#include "reports/record/wide_row.hpp"
#include "reports/render/record_text.hpp"

namespace foretell {
namespace {

std::string json_of_table(const Table& table, int) {
  std::string json = "[";
  for (const auto& row : table.rows) {
    json += json.size() > 1 ? ",\n{" : "{";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const TableColumn& column = table.columns[i];
      json += (i > 0 ? "," : "") + json_text(column.title) + ":" +
              (column.align == Align::kRight ? json_number_or_text(row[i]) : json_text(row[i]));
    }
    json += "}";
  }
  return json + "]\n";
}

CsvRow titles_of(const Table& table) {
  CsvRow header;
  for (const TableColumn& column : table.columns) header.push_back(column.title);
  return header;
}

std::string csv_of_table(const Table& table, int) {
  std::string text = to_csv(titles_of(table));
  for (const auto& row : table.rows) text += to_csv(row);
  return text;
}

// Columns with tabs between, as spreadsheets take them from the clipboard; white space in a cell is
// a blank.
std::string tsv_of_table(const Table& table, int) {
  const auto line = [](CsvRow row) {
    for (std::string& cell : row) {
      std::replace_if(
          cell.begin(), cell.end(), [](char c) { return c == '\t' || c == '\n'; }, ' ');
    }
    return join(row, "\t") + "\n";
  };
  std::string text = line(titles_of(table));
  for (const auto& row : table.rows) text += line(row);
  return text;
}

std::string markdown_of_table(const Table& table, int) { return render_markdown(table); }

const OutputFormat& row_of(Format format) {
  for (const OutputFormat& known : output_formats()) {
    if (known.format == format) return known;
  }
  throw InternalError(__FILE__, __LINE__, "a format without a writer");
}

}  // namespace

const std::vector<OutputFormat>& output_formats() {
  static const std::vector<OutputFormat> kFormats = {
      {Format::kTable, "table", {}, &render_text},
      {Format::kJson, "json", {".json", ".jsonl"}, &json_of_table},
      {Format::kCsv, "csv", {".csv"}, &csv_of_table},
      {Format::kMarkdown, "md", {".md"}, &markdown_of_table},
      {Format::kTsv, "tsv", {".tsv"}, &tsv_of_table},
      {Format::kHtml, "html", {".html"}, nullptr},
  };
  return kFormats;
}

namespace {

std::vector<std::string> names_of_formats() {
  std::vector<std::string> names;
  for (const OutputFormat& known : output_formats()) {
    if (known.table != nullptr) names.emplace_back(known.name);
  }
  return names;
}

const OutputFormat* find_by_ending(const std::string& path) {
  const std::string extension = to_lower(std::filesystem::path(path).extension().string());
  for (const OutputFormat& known : output_formats()) {
    const auto& endings = known.extensions;
    if (std::find(endings.begin(), endings.end(), extension) != endings.end()) return &known;
  }
  return nullptr;
}

// "a, b or c"
std::string alternatives(std::vector<std::string> words) {
  const std::string last = words.back();
  words.pop_back();
  return join(words, ", ") + " or " + last;
}

}  // namespace

std::string format_words() {
  std::vector<std::string> names = names_of_formats();
  names.front() += " (default)";
  return alternatives(names);
}

Format parse_format(const std::string& name) {
  for (const OutputFormat& known : output_formats()) {
    if (name != known.name) continue;
    if (known.table != nullptr) return known.format;
    throw UserError(
        fmt::format("format {}: pages are made by `foretell report`, of what --store "
                    "keeps or --format json writes; here there are: {}",
                    name, join(names_of_formats(), ", ")));
  }
  throw unknown_name("format", name, names_of_formats());
}

Format format_of_file(const std::string& path) {
  if (const OutputFormat* found = find_by_ending(path)) return found->format;
  std::vector<std::string> endings;
  for (const OutputFormat& known : output_formats())
    endings.insert(endings.end(), known.extensions.begin(), known.extensions.end());
  throw UserError(path + ": the name has to end in " + alternatives(endings) +
                  ", which says what to write");
}

std::string format_by_ending(const std::string& path, const std::string& otherwise) {
  const OutputFormat* found = find_by_ending(path);
  return found == nullptr ? otherwise : found->name;
}

bool is_prose(Format format) { return format == Format::kTable || format == Format::kHtml; }

std::string table_text(const Table& table, Format format, int max_width) {
  const OutputFormat& known = row_of(format);
  FORETELL_CHECK(known.table != nullptr, "a format of tables");
  return known.table(table, max_width);
}

std::string rows_text(const std::vector<CsvRow>& rows, Format format) {
  Table table;
  for (const std::string& title : rows.front()) table.columns.push_back({title, Align::kRight});
  table.rows.assign(rows.begin() + 1, rows.end());
  return table_text(table, format, 0);
}

std::string records_text(const std::vector<RunRecord>& records, Format format) {
  if (format == Format::kJson) return to_json_lines(records);
  if (format == Format::kMarkdown) return comparison_markdown(compared(records), kOnDemand);
  std::vector<CsvRow> rows = {wide_header()};
  for (const RunRecord& record : records) rows.push_back(wide_row(record));
  return rows_text(rows, format);
}

}  // namespace foretell
