// The result of `explain` for machines: one JSON object, or rows of a table.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/app/study/what_if/sensitivity.hpp"
#include "model/app/study/what_if/what_if.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

struct ReachedTarget {
  Target target;
  std::vector<TargetChange> changes;
};

struct Explanation {
  std::vector<ImprovedCall> improved;
  std::optional<std::vector<Sensitivity>> sensitivity;
  std::optional<ReachedTarget> reached;
};

// The record, with a member "explanation" of what the tables show: operators with equal layers
// together, what bounds them, what would help, and, when asked for (null otherwise), "sensitivity"
// and "target". Changes of latency and throughput are ratios to the unchanged machine.
std::string explain_json(const RunRecord& record, const Explanation& explanation);

// The same in one table: a row per resource, operator, bound and change, as its first column says;
// cells that a row has no use for are empty.
std::vector<CsvRow> explain_rows(const RunRecord& record, const Explanation& explanation);

std::vector<CsvRow> sensitivity_rows(const std::vector<Sensitivity>& rows);
std::vector<CsvRow> target_rows(const ReachedTarget& reached);

}  // namespace foretell
