// Rows whose time no machine can have taken, or that do not say what was measured, by the rules of
// calib/validate/impossible_times.yaml:
//
//   rules:
//     - {table: operator, where: "op=compute_scale", below_us: 0.5, why: no kernel takes less}
//     - {table: mla, where: "model=a", unstated: which of its layers, why: there are two kinds}
//
// `table` is the kind of the table, `where` as of --where, `below_us` above 0.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calib/validate/table_kind.hpp"
#include "model/app/tables/row_filter.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

class ImpossibleTimes {
 public:
  // The rules for a table with this header; those whose columns it does not have do not count.
  // UserError with file:line for a rule that is wrong.
  static ImpossibleTimes load(const TableLayout& layout, const CsvRow& header);
  static ImpossibleTimes parse(const std::string& text, const std::string& shown_as,
                               const TableLayout& layout, const CsvRow& header);

  // Why the time of the row (latency_us) does not count; nothing where it does, and where the cell
  // is no time above zero, which others refuse.
  std::optional<std::string> reason(const CsvRow& row) const;

 private:
  struct Rule {
    RowFilter rows;
    double below_us;  // infinite: no time of these rows counts
    std::string why;
  };
  std::vector<Rule> rules_;
  std::optional<std::size_t> time_;
};

}  // namespace foretell
