#include "model/app/serving/request/served_cells.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <vector>

#include "model/app/request/family/device_family.hpp"
#include "model/base/errors.hpp"
#include "model/base/measured_data.hpp"
#include "model/base/text.hpp"
#include "model/config/node_text.hpp"

namespace foretell {
namespace {

constexpr std::string_view kConfigFolder = "configs/";  // of the measured data

}  // namespace

std::string served_cell(const ServedCells& cells, const char* column) {
  const auto found = cells.find(column);
  return found == cells.end() ? "" : found->second;
}

bool is_one_of(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

ServedNames served_names(const Node& root, const char* section) {
  ServedNames names;
  for (const MapEntry& entry : root.required(section, "").entries) {
    names[entry.key] = entry.value.as_text(section);
  }
  return names;
}

std::vector<std::string> texts_in(const Node& node, const char* key) {
  const Node* found = node.find(key);
  return found == nullptr ? std::vector<std::string>() : texts_at(*found, key);
}

std::string served_system(const ServedNames& systems, const char* column, const std::string& name,
                          bool alone) {
  const auto known = systems.find(name);
  if (known != systems.end()) return known->second;
  std::vector<std::string> names;
  for (const auto& entry : systems) names.push_back(entry.first);
  if (name.empty()) throw unknown_name(column, name, names);
  if (const DeviceFamily* family = find_family(name)) {
    const std::string system = family->find_system(name);
    const std::string node = system + "-x8";
    const std::vector<std::string> devices = family->devices();
    const bool is_device = std::find(devices.begin(), devices.end(), system) != devices.end();
    return !alone && is_device && family->has_system(node) ? node : system;
  }
  for (const DeviceFamily* family : device_families()) {
    for (std::string& system : family->systems()) names.push_back(std::move(system));
  }
  throw unknown_name(column, name, names);
}

std::string network_key(const ServedNames& networks, const std::string& network,
                        const std::string& precision) {
  const std::string both = network + ' ' + precision;
  return networks.count(both) > 0 ? both : network;
}

std::string workload_named(const std::string& network, const std::string& named) {
  if (!starts_with(named, kConfigFolder)) return named;
  const std::filesystem::path folder = measured_data_folder();
  if (folder.empty()) {
    throw UserError(fmt::format(
        "model {}: its {} lies among the measured data; let FORETELL_DATA name the folder that "
        "holds configs/",
        network, named.substr(kConfigFolder.size())));
  }
  return (folder / named).string();
}

}  // namespace foretell
