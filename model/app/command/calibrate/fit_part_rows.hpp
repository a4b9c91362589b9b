// The rows of a table of measurements that may make intervals: those of the fit part that meet
// conditions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "calib/validate/table_kind.hpp"
#include "model/app/tables/row_filter.hpp"
#include "model/app/tables/row_parts.hpp"
#include "model/app/tables/uncounted/uncounted_lines.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

class FitPartRows {
 public:
  // `where`: COLUMN=VALUE. UserError for a table of no known kind.
  FitPartRows(const std::string& table, const std::vector<std::string>& where);

  const CsvRow& header() const { return table_.header(); }
  const TableLayout& layout() const { return layout_; }

  // Hands every row to `add`. UserError when there is none. Call it once.
  template <class Add>
  void each(Add add) {
    CsvRow row;
    while (next(row)) add(row);
    check_any();
  }

 private:
  bool next(CsvRow& row);
  void check_any() const;

  std::string path_;
  CsvReader table_;
  const TableLayout& layout_;
  RowPart part_;
  RowFilter filter_;
  UncountedLines contradicted_;
  std::size_t rows_ = 0;
};

}  // namespace foretell
