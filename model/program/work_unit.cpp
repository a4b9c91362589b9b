#include "model/program/work_unit.hpp"

#include <algorithm>

namespace foretell {

std::string_view to_string(WorkUnit unit) {
  static constexpr std::array<std::string_view, kWorkUnitCount> kNames = {
      "DRAM",         "L2",
      "arithmetic",   "caches",
      "calls",        "fork and join",
      "launch",       "link",
      "operand feed", "pipeline latency",
      "reduction",    "special functions",
      "tensor pipe",  "vector pipe"};
  return kNames.at(static_cast<std::size_t>(unit));
}

WorkUnit UnitTimes::longest() const {
  return static_cast<WorkUnit>(std::max_element(times_.begin(), times_.end()) - times_.begin());
}

}  // namespace foretell
