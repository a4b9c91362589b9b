// Rows of a table with their predictions as a report: of a page, or in another form.
#pragma once

#include <string>

#include "calib/validate/left_out_rows.hpp"
#include "calib/validate/table_kind.hpp"
#include "reports/render/page_data.hpp"

namespace foretell {

// Collects rows one at a time. Of long tables the first rows are kept, kRowBytes of text; all are
// counted.
class PredictedRowsReport {
 public:
  // `header` is that of the rows as predict writes them: with the columns that it adds.
  PredictedRowsReport(const TableLayout& layout, const CsvRow& header,
                      std::size_t row_bytes = kRowBytes);

  void add(CsvRow cells, std::size_t line);  // of the file, for messages
  void note(const std::string& text) { rows_.notes.push_back(text); }

  // Without a title. The rows move out.
  ReportContent content();

 private:
  PredictedRows rows_;
  LeftOutRows failed_;
  std::size_t status_;
  std::size_t message_;
  std::size_t bytes_left_;
};

// Whether the first line of a file is one of what `predict` writes: as JSON, or the header of CSV.
bool is_predicted_line(const std::string& line);

// What `predict` wrote. UserError with file:line for a line of JSON that is not whole, or of other
// members than the first, and for a table of an unknown kind.
ReportContent read_predicted_rows(const std::string& path);

}  // namespace foretell
