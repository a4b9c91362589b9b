// Tables of kernels through `foretell predict`, as rows.
#pragma once

#include <string>
#include <vector>

#include "model/app/command/testing/command_runner.hpp"
#include "model/testing/temporary_folder.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

// The rows below the header of what `predict` makes of `table`, which has a header of its own.
inline std::vector<CsvRow> predicted(const std::string& table,
                                     const std::vector<std::string>& options = {}) {
  const TemporaryFolder folder;
  std::vector<std::string> line = {"predict", folder.write("t.csv", table), "-o",
                                   folder.file("o.csv")};
  line.insert(line.end(), options.begin(), options.end());
  run_command(line);
  CsvReader out(folder.file("o.csv"));
  std::vector<CsvRow> rows;
  CsvRow row;
  while (out.next(row)) rows.push_back(row);
  return rows;
}

// For such a row: the columns are added at its end.
inline const std::string& status(const CsvRow& row) { return row.at(row.size() - 2); }
inline const std::string& message(const CsvRow& row) { return row.back(); }
inline double time_of(const CsvRow& row) { return std::stod(row.at(row.size() - 5)); }

}  // namespace foretell
