#include "model/config/node_number.hpp"

#include <fmt/format.h>

#include "model/base/errors.hpp"

namespace foretell {

double quantity_at(const Node& node, std::string_view path, Dimension dimension) {
  const std::string& text = node.as_text(path);
  try {
    return parse_quantity(text, dimension);
  } catch (const UserError& error) {
    throw UserError(fmt::format("{}: {}: {}", node.where(), path, error.what()));
  }
}

double number_at(const Node& node, std::string_view path, double min, double max) {
  const double value = quantity_at(node, path, Dimension{});
  if (value >= min && value <= max) return value;
  throw UserError(
      fmt::format("{}: {}: '{}' is outside {} .. {}", node.where(), path, node.text, min, max));
}

double required_number(const Node& map, std::string_view key, double min, double max) {
  return number_at(map.required(key, ""), key, min, max);
}

}  // namespace foretell
