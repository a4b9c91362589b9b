// Comma-separated values as in RFC 4180: quoted fields, doubled quotes, LF, CRLF or CR, a header
// row.
//
// Rows are read one at a time, so a table of any length streams. A byte-order mark in front and
// empty lines are skipped; gzip is read as it is. Semicolons or tabs separate the columns where the
// header has no comma. A zero byte, and a row of more than 16 MiB, are
// UserErrors: such a file is no table.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reports/record/text_file.hpp"

namespace foretell {

using CsvRow = std::vector<std::string>;

class CsvReader {
 public:
  // kLowerCase: header() is in lower case, whatever the file writes.
  enum class Names { kAsWritten, kLowerCase };
  // Reads the header. UserError when the file has none or names a column twice.
  explicit CsvReader(const std::string& path, Names names = Names::kAsWritten);

  const CsvRow& header() const { return header_; }                  // without spaces around names
  const CsvRow& written_header() const { return written_header_; }  // as in the file
  std::optional<std::size_t> column(std::string_view name) const;

  // The next row, with exactly as many cells as the header; false at the end. UserError with
  // file:line when a quote is not closed. A row with more or fewer cells is cut or filled with
  // empty cells, and `problem` says so; otherwise `problem` is empty.
  bool next(CsvRow& row, std::string& problem);
  // The same, with a UserError for such a row.
  bool next(CsvRow& row);

  // Line of the file on which the last row began, for messages; the first line is 1.
  std::size_t line() const { return row_line_; }
  double consumed() const { return file_.consumed(); }
  const std::string& path() const { return file_.path(); }

 private:
  void begin();
  void fill();
  bool read_record(CsvRow& row);
  int get();
  void end_line();

  InputFile file_;
  CsvRow header_;
  CsvRow written_header_;
  std::string buffer_;
  std::size_t position_ = 0;
  char separator_ = ',';
  std::size_t line_ = 1;
  std::size_t row_line_ = 1;
};

// One row with a line end; fields are quoted only where they have to be.
std::string to_csv(const CsvRow& row);

// The shortest text that reads back as the same double; InternalError for NaN and infinity.
std::string to_text(double value);

}  // namespace foretell
