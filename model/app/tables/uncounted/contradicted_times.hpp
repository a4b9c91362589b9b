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

#include <string>

#include "calib/validate/table_kind.hpp"
#include "model/app/tables/uncounted/uncounted_lines.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

// Reads the whole table where a rule is for its kind and all columns are there. UserError with
// file:line for a rule that is wrong.
UncountedLines contradicted_times(const std::string& table, const TableLayout& layout,
                                  const CsvRow& header);
// By the rules of a text.
UncountedLines parse_contradicted_times(const std::string& text, const std::string& shown_as,
                                        const std::string& table, const TableLayout& layout,
                                        const CsvRow& header);

}  // namespace foretell
