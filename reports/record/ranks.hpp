// How many parts of a machine work on one copy of a network.
#pragma once

#include <algorithm>

#include "reports/record/scenario.hpp"

namespace foretell {

// Groups of --tp parts (GPUs, cores) that a stage of a copy has: for sequences of their own, or for
// tokens of every prompt.
inline int groups_of_copy(const Scenario& scenario) {
  return std::max(1, scenario.attention_dp) * std::max(1, scenario.cp);
}
inline int ranks_of_stage(const Scenario& scenario) {
  return std::max(1, scenario.tp) * groups_of_copy(scenario);
}

}  // namespace foretell
