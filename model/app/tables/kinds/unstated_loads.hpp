// Served points whose own times contradict the load that they state, by the rules of
// calib/validate/unstated_loads.yaml:
//
//   rules:
//     - {where: "model=a", waits_above: 1, source: NAME, why: a place for every client}
//
// `where` as of --where. A row does not count when its first token takes more than `waits_above`
// times as long as its other tokens together (ttft_ms, tpot_ms, osl).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "calib/validate/table_kind.hpp"
#include "model/app/tables/row_filter.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

class UnstatedLoads {
 public:
  // The rules for a table with this header: none for tables of other kinds, and those whose columns
  // it does not have do not count. UserError with file:line for a rule that is wrong.
  static UnstatedLoads load(const TableLayout& layout, const CsvRow& header);
  static UnstatedLoads parse(const std::string& text, const std::string& shown_as,
                             const TableLayout& layout, const CsvRow& header);

  // Why the row does not count; nothing where it does.
  std::optional<std::string> reason(const CsvRow& row) const;

 private:
  struct Rule {
    RowFilter rows;
    double waits_above;
    std::string why;
  };
  std::vector<Rule> rules_;
  std::size_t ttft_ = 0;
  std::size_t tpot_ = 0;
  std::size_t osl_ = 0;
};

}  // namespace foretell
