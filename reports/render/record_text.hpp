// Records for people: one prediction in detail, several side by side, and where the time goes.
#pragma once

#include <string>
#include <vector>

#include "reports/record/run_record.hpp"
#include "reports/render/table.hpp"

namespace foretell {

// One prediction as a short list of labelled values.
std::string run_text(const RunRecord& record);

// One row of a comparison: a prediction, or why there is none.
struct ComparedRun {
  RunRecord record;     // with a problem, only its context counts
  std::string problem;  // empty when there is a prediction
};

std::vector<ComparedRun> compared(std::vector<RunRecord> records);

// One row per run; costs are those of the purchase option `price`.
Table comparison_table(const std::vector<ComparedRun>& runs, const std::string& price);

// The comparison with what all runs share said once, above the table. With a `max_width`, of a
// terminal, throughput is also a bar.
std::string comparison_text(const std::vector<ComparedRun>& runs, const std::string& price,
                            int max_width);
std::string comparison_markdown(const std::vector<ComparedRun>& runs, const std::string& price);

// "batch 8, sequence 128, 2 copies"
std::string scenario_text(const Scenario& scenario);

// Busy and stalled time per resource, the operators that take longest (at most `top`, grouped over
// equal layers) with what bounds each, and what that means.
std::string explain_text(const RunRecord& record, int top, int max_width);

}  // namespace foretell
