// Numbers and quantities of YAML nodes. UserErrors carry "file:line: <path>: " in front; `path`
// names the node there.
#pragma once

#include <limits>
#include <string_view>

#include "model/config/document.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {

inline constexpr double kAnyNumber = std::numeric_limits<double>::max();

// In base units.
double quantity_at(const Node& node, std::string_view path, Dimension dimension);

// A finite number without unit, from `min` to `max`.
double number_at(const Node& node, std::string_view path, double min = -kAnyNumber,
                 double max = kAnyNumber);

// The same of what a map has at a key.
double required_number(const Node& map, std::string_view key, double min = -kAnyNumber,
                       double max = kAnyNumber);

}  // namespace foretell
