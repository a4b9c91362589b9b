// Rows of a table that measured the same as a row before and found something else.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "calib/validate/table_kind.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

// Columns of `header` in which rows of the kind have measurements, each once.
std::vector<std::string> measured_columns(const TableLayout& layout, const CsvRow& header);

struct Contradiction {
  std::size_t line = 0;    // of the row before
  std::string column;      // that is measured
  std::string difference;  // "30 contradicts line 2, which has 15 for the same"
  double ratio = 1;        // the greater to the smaller, 1 or above
};

class Contradictions {
 public:
  // Two measurements of one shape may differ by `tolerance`, a share.
  Contradictions(const TableLayout& layout, const CsvRow& header, double tolerance);

  // Remembers the measurements above zero of a row that stands on a line, and says which of them
  // contradict the first of an earlier row that agrees in all that is not measured.
  std::vector<Contradiction> add(const CsvRow& row, std::size_t line);

 private:
  struct First {
    double value;
    std::size_t line;
  };
  struct Column {
    std::string name;
    std::size_t place;
    std::unordered_map<std::size_t, First> first;  // by the hash of what is not measured
  };

  double tolerance_;
  std::vector<std::size_t> keys_;
  std::vector<Column> columns_;
};

}  // namespace foretell
