// Does a prediction speak of another machine than the one that was measured?
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "model/base/text.hpp"

namespace foretell {

// `set`: overrides as typed, "device.hbm.bandwidth=1 TB/s". Prices and the number of devices of an
// instance do not change the chip, and settings of the workload do not either.
inline bool changes_hardware(const std::vector<std::string>& set) {
  return std::any_of(set.begin(), set.end(), [](const std::string& assignment) {
    const std::string path(trim(assignment));
    return starts_with(path, "device.") || starts_with(path, "core.") ||
           starts_with(path, "link.") || starts_with(path, "factors.");
  });
}

}  // namespace foretell
