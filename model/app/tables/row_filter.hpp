// Which rows of a table count.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "reports/record/csv.hpp"

namespace foretell {

class RowFilter {
 public:
  // "COL=VALUE[,VALUE…][,COL=VALUE…]": the row's cell is one of the values, for every column named.
  // UserError for another form and for a column that the header does not have.
  void require(const std::string& conditions, const CsvRow& header);

  bool accepts(const CsvRow& row) const;
  std::string text() const;  // "use=yes, latest=1"; "" for no condition

  // For unmet(): what a row has where a condition has not been met so far. Cells are shown to the
  // user: a row that `is_open` refuses, or that cannot be read, is not noted.
  void note_where(const std::function<bool(const CsvRow&)>& is_open, const CsvRow& row);
  // "; no row has gpu=b200: its values are b200_sxm, h100_sxm, …" of every condition that no noted
  // row meets, the nearest values first; "" where each is met.
  std::string unmet() const;

 private:
  struct Condition {
    std::size_t column;
    std::set<std::string> values;
    std::string text;
    std::string name;                // of the column
    bool is_met = false;             // by a noted row
    std::set<std::string> others{};  // cells of noted rows
  };
  std::vector<Condition> conditions_;
};

bool has_column(const CsvRow& header, const std::string& name);

// Whether a table has the columns that conditions name.
bool has_columns_of(const std::string& conditions, const CsvRow& header);

// Index of a column; UserError with those that there are, the nearest first.
std::size_t find_column(const CsvRow& header, const std::string& name);

}  // namespace foretell
