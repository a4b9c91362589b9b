#include "model/app/serving/request/served_cells.hpp"

#include <vector>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {

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

const std::string& looked_up(const ServedNames& names, const char* what, const std::string& name) {
  const auto found = names.find(name);
  if (found != names.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [key, value] : names) known.push_back(key);
  throw unknown_name(what, name, known);
}

}  // namespace foretell
