// Times that a rate of the same run contradicts, by the rules of
// calib/validate/contradicted_times.yaml:
//
//   rules:
//     - {table: models, differ: [notes, source], times: 2, why: a rate counts work over a long run}
//
// A call of `batch` samples on each of the GPUs of a system takes a time in which, at the rate that
// is published beside it, between one batch and one for every GPU is done. A time of a row that has
// no rate in agreement, up to a factor of `times`, among rows that agree in all columns but
// `differ` and what was measured, does not count.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calib/validate/table_kind.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

class ContradictedTimes {
 public:
  // Reads the whole table where a rule is for its kind and all columns are there. UserError with
  // file:line for a rule that is wrong.
  static ContradictedTimes load(const std::string& table, const TableLayout& layout,
                                const CsvRow& header);
  static ContradictedTimes parse(const std::string& text, const std::string& shown_as,
                                 const std::string& table, const TableLayout& layout,
                                 const CsvRow& header);

  // Why the row that begins on a line of the table does not count; nothing where it does.
  std::optional<std::string> reason(std::size_t line) const;

 private:
  std::vector<std::string> whys_;
  std::map<std::size_t, std::size_t> lines_;  // of rows that do not count, to the reason
};

}  // namespace foretell
