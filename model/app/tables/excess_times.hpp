// Rows that took far longer than rows of the same table that did as much or more, by the rules of
// calib/validate/excess_times.yaml:
//
//   rules:
//     - {table: attention_block, where: "framework=trtllm", sizes: [batch, kv_len], types: [dtype],
//        times: 2.5, why: the host of another program}
//
// `table` is the kind of the table, `where` as of --where. Rows are compared that agree in all
// columns but `sizes`, `types` and the time.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "calib/validate/table_kind.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

class ExcessTimes {
 public:
  // Reads the whole table where a rule is for its kind and all columns are there. UserError with
  // file:line for a rule that is wrong.
  static ExcessTimes load(const std::string& table, const TableLayout& layout,
                          const CsvRow& header);
  static ExcessTimes parse(const std::string& text, const std::string& shown_as,
                           const std::string& table, const TableLayout& layout,
                           const CsvRow& header);

  // Why the row that begins on a line of the table does not count; nothing where it does.
  std::optional<std::string> reason(std::size_t line) const;

 private:
  std::vector<std::string> whys_;
  std::map<std::size_t, std::size_t> lines_;  // of rows that do not count, to the reason
};

}  // namespace foretell
