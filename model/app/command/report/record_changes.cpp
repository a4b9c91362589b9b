#include "model/app/command/report/record_changes.hpp"

#include <cmath>

#include "model/app/command/report/record_input.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {

std::vector<RecordDifference> changes_between(const ChangeOptions& options) {
  Tolerances tolerances;
  for (const std::string& text : options.tolerances) add_tolerance(text, tolerances);
  return diff_records(read_records(options.expected), read_records(options.actual), tolerances);
}

Table change_table(const std::vector<RecordDifference>& differences) {
  Table table;
  table.columns = {{"record"},
                   {"field"},
                   {"expected", Align::kRight},
                   {"actual", Align::kRight},
                   {"change", Align::kRight}};
  for (const RecordDifference& difference : differences) {
    const bool moved = std::abs(difference.relative) > 0;
    table.rows.push_back({difference.record, difference.field, difference.expected,
                          difference.actual,
                          moved ? percent_format(difference.relative, true) : ""});
  }
  return table;
}

int change_result(const std::vector<RecordDifference>& differences, const Session& session) {
  if (differences.empty()) session.say("foretell: no number moved");
  return differences.empty() ? kSuccess : kOutsideTolerance;
}

}  // namespace foretell
