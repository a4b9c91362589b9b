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

#include <string>

#include "calib/validate/table_kind.hpp"
#include "model/app/tables/uncounted/uncounted_lines.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

// Reads the whole table where a rule is for its kind and all columns are there. UserError with
// file:line for a rule that is wrong.
UncountedLines excess_times(const std::string& table, const TableLayout& layout,
                            const CsvRow& header);
// By the rules of a text.
UncountedLines parse_excess_times(const std::string& text, const std::string& shown_as,
                                  const std::string& table, const TableLayout& layout,
                                  const CsvRow& header);

}  // namespace foretell
