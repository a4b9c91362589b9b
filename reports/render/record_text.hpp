// Records for people: one prediction in detail, several side by side, and where the time goes.
#pragma once

#include <string>
#include <vector>

#include "reports/record/run_record.hpp"
#include "reports/render/table.hpp"

namespace foretell {

// One prediction as a short list of labelled values.
std::string run_text(const RunRecord& record);

// One row per record.
Table comparison_table(const std::vector<RunRecord>& records);

// The comparison with what all records share said once, above the table.
std::string comparison_text(const std::vector<RunRecord>& records, int max_width);
std::string comparison_markdown(const std::vector<RunRecord>& records);

// "batch 8, sequence 128, 2 copies"
std::string scenario_text(const Scenario& scenario);

// Busy and stalled time per resource, the operators that take longest (at most `top`, grouped over
// equal layers) with what bounds each, and what that means.
std::string explain_text(const RunRecord& record, int top, int max_width);

}  // namespace foretell
