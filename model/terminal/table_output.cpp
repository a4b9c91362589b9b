#include "model/terminal/table_output.hpp"

#include "model/base/errors.hpp"
#include "reports/record/csv.hpp"
#include "reports/record/json_text.hpp"

namespace foretell {
namespace {

std::string table_json(const Table& table) {
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

std::string table_csv(const Table& table) {
  CsvRow header;
  for (const TableColumn& column : table.columns) header.push_back(column.title);
  std::string text = to_csv(header);
  for (const auto& row : table.rows) text += to_csv(row);
  return text;
}

}  // namespace

std::string table_text(const Table& table, Format format, int max_width) {
  switch (format) {
    case Format::kTable:
      return render_text(table, max_width);
    case Format::kJson:
      return table_json(table);
    case Format::kCsv:
      return table_csv(table);
  }
  throw InternalError(__FILE__, __LINE__, "a format without a renderer");
}

void write_table(const Table& table, const OutputOptions& options, int max_width) {
  write_text(options.output, table_text(table, parse_format(options.format), max_width));
}

}  // namespace foretell
