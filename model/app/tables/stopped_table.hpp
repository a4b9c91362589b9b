// Tables whose reading a signal ends (stop_signals.hpp).
#pragma once

#include <cstddef>
#include <string>

#include "reports/record/csv.hpp"

namespace foretell {

// The next row of what is asked; none after a signal, which also ends a wait for standard input.
bool next_row(CsvReader& table, CsvRow& row, std::string& problem);
// A row that the signal left, to be counted; none of standard input, which is not waited for.
bool next_left_row(CsvReader& table, CsvRow& row, std::string& problem);

// "interrupted; 3 of 9 rows are done"
std::string interruption_text(const CsvReader& table, std::size_t done, std::size_t all);

}  // namespace foretell
