// The rows of a table of measurements that factors are fitted to.
#pragma once

#include <functional>
#include <string>

#include "model/app/tables/kernel_rows.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

// Takes a row; false when it is not one of those that are fitted to. UserError for a wrong cell.
using TakeRow = std::function<bool(const NamedCells& cells, const CsvRow& row)>;

// Every row of the table, in order. UserError, when all have been read, that names those that
// `take` refused and those that contradict an earlier one, with their lines; nothing may be fitted
// to the others then.
void take_rows(const std::string& path, const TakeRow& take);

}  // namespace foretell
