#include "model/app/serving/request/served_cells.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <string_view>
#include <vector>

#include "model/base/errors.hpp"
#include "model/base/measured_data.hpp"
#include "model/base/text.hpp"

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
  if (found == nullptr) return {};
  if (!found->is_list()) return {found->as_text(key)};
  std::vector<std::string> texts;
  for (const Node& one : found->items) texts.push_back(one.as_text(key));
  return texts;
}

const std::string& looked_up(const ServedNames& names, const char* what, const std::string& name) {
  const auto found = names.find(name);
  if (found != names.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [key, value] : names) known.push_back(key);
  throw unknown_name(what, name, known);
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
