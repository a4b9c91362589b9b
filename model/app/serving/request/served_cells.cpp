#include "model/app/serving/request/served_cells.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <vector>

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
