// A record as one row of a table: context and summary, without operators and resources.
#pragma once

#include <string>
#include <vector>

#include "reports/record/csv.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {

const CsvRow& wide_header();
CsvRow wide_row(const RunRecord& record);  // cells that do not apply are empty

}  // namespace foretell
