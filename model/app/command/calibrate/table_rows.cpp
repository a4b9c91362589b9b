#include "model/app/command/calibrate/table_rows.hpp"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "calib/import/check_measurements.hpp"
#include "calib/import/contradictions.hpp"
#include "calib/validate/table_kind.hpp"
#include "model/base/errors.hpp"

namespace foretell {

void take_rows(const std::string& path, const TakeRow& take) {
  CsvReader csv(path);
  const NamedCells cells(csv.header());
  Contradictions contradictions(recognise_table(csv.header(), path), csv.header(),
                                ImportRules{}.tolerance);
  std::vector<std::string> problems;
  CsvRow row;
  std::string problem;
  while (csv.next(row, problem)) {
    if (!problem.empty()) {
      problems.push_back(problem);
      continue;
    }
    try {
      if (!take(cells, row)) continue;
    } catch (const UserError& error) {
      problems.push_back(fmt::format("{}:{}: {}", path, csv.line(), error.what()));
      continue;
    }
    for (const Contradiction& found : contradictions.add(row, csv.line())) {
      problems.push_back(
          fmt::format("{}:{}: {}: {}", path, csv.line(), found.column, found.difference));
    }
  }
  refuse_problems(problems, "nothing was fitted");
}

}  // namespace foretell
