// Two results side by side, as `diff` and `report A B` show them.
#pragma once

#include <string>
#include <vector>

#include "model/app/terminal/output.hpp"
#include "reports/compare/record_diff.hpp"
#include "reports/render/table.hpp"

namespace foretell {

struct ChangeOptions {
  std::string expected;  // file
  std::string actual;
  std::vector<std::string> tolerances;
};

// UserError for tolerances that are not understood and files that cannot be read.
std::vector<RecordDifference> changes_between(const ChangeOptions& options);

// A row per number that moved by more than its tolerance.
Table change_table(const std::vector<RecordDifference>& differences);

// Says so when there is none. The exit code of both commands.
int change_result(const std::vector<RecordDifference>& differences, const Session& session);

}  // namespace foretell
