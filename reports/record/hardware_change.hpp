// Does a prediction speak of another machine than the one that was measured?
#pragma once

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/base/text.hpp"

namespace foretell {

// What a record of such a machine says in its notes.
inline constexpr const char* kChangedHardware =
    "hardware that was changed has not been measured: intervals are twice as wide, in ratios, as "
    "those of the machine as it is";

// Of overrides as typed those that changed something: what gives a parameter of the machine the
// value that it has is none. Prices stay, as they are those of the machine as it is set. `changed`:
// paths of parameters.
inline std::vector<std::string> changing(std::vector<std::string> set,
                                         const std::set<std::string>& changed) {
  const auto is_none = [&](const std::string& assignment) {
    const std::string path(trim(assignment.substr(0, assignment.find('='))));
    const bool one_parameter = path.find('[') == std::string::npos && !ends_with(path, ".use");
    const bool of_machine = starts_with(path, "device.") || starts_with(path, "core.") ||
                            starts_with(path, "link.") ||
                            (starts_with(path, "system.") && !starts_with(path, "system.price."));
    return one_parameter && of_machine && changed.count(path) == 0;
  };
  set.erase(std::remove_if(set.begin(), set.end(), is_none), set.end());
  return set;
}

// `set`: overrides as typed, "device.hbm.bandwidth=1 TB/s". Prices and the number of devices of an
// instance do not change the chip, and settings of the workload do not either.
inline bool changes_hardware(const std::vector<std::string>& set) {
  return std::any_of(set.begin(), set.end(), [](const std::string& assignment) {
    const std::string path(trim(assignment));
    return starts_with(path, "device.") || starts_with(path, "core.") ||
           starts_with(path, "link.") || starts_with(path, "factors.");
  });
}

// Whether a published price still is what the machine costs. More devices, another host or other
// links are another machine; fitted factors are the same one.
inline bool changes_what_is_priced(const std::vector<std::string>& set) {
  return std::any_of(set.begin(), set.end(), [](const std::string& assignment) {
    const std::string path(trim(assignment));
    return starts_with(path, "device") || starts_with(path, "core.") ||
           starts_with(path, "link.") ||
           (starts_with(path, "system.") && !starts_with(path, "system.price."));
  });
}

// The prices, by purchase option, that hold for a machine changed like this: those that are given
// with it (system.price.on_demand=…), and the published ones only where nothing is changed.
inline std::map<std::string, double> prices_as_set(const std::map<std::string, double>& prices,
                                                   const std::vector<std::string>& set) {
  if (!changes_what_is_priced(set)) return prices;
  std::map<std::string, double> given;
  for (const auto& [option, usd_per_hour] : prices) {
    const std::string path = "system.price." + option;
    for (const std::string& assignment : set) {
      if (trim(assignment.substr(0, assignment.find('='))) == path) given[option] = usd_per_hour;
    }
  }
  return given;
}

inline constexpr const char* kPriceOfAnother =
    "no cost: the published price is that of the unchanged machine; give the price of this one "
    "with --set 'system.price.on_demand=… USD/h'";

}  // namespace foretell
