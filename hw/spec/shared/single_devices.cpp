#include "hw/spec/shared/single_devices.hpp"

#include <fmt/format.h>

#include "hw/spec/neuron/neuron_fields.hpp"
#include "hw/spec/shared/checks.hpp"
#include "hw/spec/shared/overrides.hpp"
#include "hw/spec/shared/provenance.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::string_view kOpen = "device[";

// "device.hbm.bandwidth" and "core.tensor.clock" alike are written after "device[3].".
std::string path_of_every(const std::string& path) {
  return starts_with(path, "core.") ? path : "device." + path;
}

bool may_differ(const std::string& path) {
  return starts_with(path, "device.hbm.") || starts_with(path, "core.dma.") ||
         (starts_with(path, "core.") && ends_with(path, ".clock"));
}

}  // namespace

DividedOverrides divide_overrides(const std::vector<std::string>& assignments, Problems& problems) {
  DividedOverrides divided;
  for (const std::string& assignment : assignments) {
    const std::size_t close = assignment.find("].");
    if (!starts_with(assignment, kOpen) || close == std::string::npos) {
      divided.every.push_back(assignment);
      continue;
    }
    const std::string index = assignment.substr(kOpen.size(), close - kOpen.size());
    const std::optional<std::int64_t> number = to_count(index);
    if (!number || index.size() > 6) {
      problems.add("--set " + assignment, "",
                   "'" + index + "' is no index; devices are counted from 0, as in device[3].");
      continue;
    }
    divided.single[static_cast<int>(*number)].push_back(
        path_of_every(assignment.substr(close + 2)));
  }
  return divided;
}

std::vector<std::pair<std::string, std::string>> set_single_devices(
    const std::map<int, std::vector<std::string>>& single, NeuronSystemSpec& system,
    Problems& problems) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const auto& [index, assignments] : single) {
    const std::string where = fmt::format("--set device[{}]", index);
    if (index >= system.devices) {
      problems.add(where, "",
                   fmt::format("{} has {} device{}, counted from 0", system.id, system.devices,
                               system.devices == 1 ? "" : "s"));
      continue;
    }
    NeuronSystemSpec changed = system;
    changed.different.clear();
    FieldList list;
    all_fields(list, changed);
    std::map<std::string, Provenance> provenance;
    Problems wrong;
    for (const std::string& path : apply_overrides(list, assignments, provenance, wrong)) {
      if (!may_differ(path)) {
        wrong.add(where, path,
                  "is the same for all devices, which run one program; what can differ is hbm, the "
                  "clocks of the engines and core.dma");
      }
      const std::string shown = starts_with(path, "device.") ? path.substr(7) : path;
      result.emplace_back(fmt::format("device[{}].{}", index, shown), list.at(path).text());
    }
    if (wrong.empty()) check_system(changed, where, wrong);
    for (const std::string& line : wrong.lines()) problems.add(line);
    system.different[index] = changed.device;
  }
  return result;
}

}  // namespace foretell
