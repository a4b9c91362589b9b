// The result of `explain --sensitivity` and `--target` for machines: one JSON object, or CSV.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/what_if/sensitivity.hpp"

namespace foretell {

struct ReachedTarget {
  Target target;
  std::vector<TargetChange> changes;
};

// {"schema":"foretell.explain/1","record":…,"sensitivity":[…],"target":{…}}; what was not asked for
// is null. Changes of latency and throughput are ratios to the unchanged machine.
std::string explain_json(const RunRecord& record,
                         const std::optional<std::vector<Sensitivity>>& sensitivity,
                         const std::optional<ReachedTarget>& reached);

std::string sensitivity_csv(const std::vector<Sensitivity>& rows);
std::string target_csv(const ReachedTarget& reached);

}  // namespace foretell
