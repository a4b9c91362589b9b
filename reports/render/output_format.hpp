// The forms in which results are written: one list, which options and file names walk.
//
// A new form is a name here and its row, with its writer, in output_format.cpp.
#pragma once

#include <string>
#include <vector>

#include "reports/record/csv.hpp"
#include "reports/record/run_record.hpp"
#include "reports/render/table.hpp"

namespace foretell {

enum class Format { kTable, kJson, kCsv, kMarkdown, kTsv, kHtml };

struct OutputFormat {
  Format format;
  const char* name;                     // of --format: "csv"
  std::vector<const char*> extensions;  // of files: ".csv"
  // Rows out: a header with its rows in this form; null where the form holds no tables.
  std::string (*table)(const Table& table, int max_width);
};

const std::vector<OutputFormat>& output_formats();

// UserError with the nearest name.
Format parse_format(const std::string& name);
// By the ending of a file; UserError that names the endings.
Format format_of_file(const std::string& path);
// The name of the format that the ending of a file means; `otherwise` for endings of none.
std::string format_by_ending(const std::string& path, const std::string& otherwise);
// "table (default), json, csv or md"
std::string format_words();

// For people, on a terminal or as a page: not rows for other programs.
bool is_prose(Format format);

// JSON is a list of objects, one per row, with the column titles as keys.
std::string table_text(const Table& table, Format format, int max_width);
// The same of rows of which the first is the header; cells that are numbers are so in JSON.
std::string rows_text(const std::vector<CsvRow>& rows, Format format);
// Records: JSON is one record per line, every other form a row each.
std::string records_text(const std::vector<RunRecord>& records, Format format);

}  // namespace foretell
