// The 80 % interval of a chain of operators on a CPU (chain_interval.hpp) by their classes.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "calib/fitted/cpu/cpu_factors.hpp"
#include "model/base/units.hpp"

namespace foretell {

struct CpuTimePart {
  std::string name;      // "product 128x768x768 bf16"
  std::string op_class;  // "product bf16"
  Seconds time;
};

// measured / predicted; 1 lies inside. Parts of a class without an interval get the widest that
// there is. Without any interval the answer is {1, 1}.
std::pair<double, double> chain_interval80(const std::vector<CpuTimePart>& parts,
                                           const CpuIntervals& intervals);

}  // namespace foretell
