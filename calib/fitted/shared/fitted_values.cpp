#include "calib/fitted/shared/fitted_values.hpp"

#include <fmt/format.h>

#include "model/base/errors.hpp"
#include "model/config/node_number.hpp"

namespace foretell {
namespace {

constexpr std::string_view kInterval = "interval80";

bool is_pair(const Node& node) { return node.is_list() && node.items.size() == 2; }

// The text of an interval in the units of its field, whose value is the upper bound afterwards.
std::string interval_text(const Field& field, const Node& interval, Problems& problems) {
  const std::string path = fmt::format("{}.{}", field.path, kInterval);
  if (!is_pair(interval)) {
    problems.add(interval, path, "expected two values: [low, high]");
    return "";
  }
  double bounds[2] = {0, 0};
  for (std::size_t i = 0; i < 2; ++i) {
    read_plain_value(field, interval.items[i], problems);
    bounds[i] = field.has_value() ? field.number() : 0;
  }
  if (bounds[0] > bounds[1]) problems.add(interval, path, "the low end is above the high end");
  return fmt::format("{} .. {}", interval.items[0].text, interval.items[1].text);
}

}  // namespace

std::map<std::string, FittedValue> load_fitted_values(
    const Node& factors, FieldList& list, const std::vector<std::string>& keys,
    const std::function<void(const Field&, const Node&, FittedValue&)>& more, Problems& problems) {
  std::map<std::string, FittedValue> values;
  std::vector<std::string> known = {"value", std::string(kInterval)};
  known.insert(known.end(), keys.begin(), keys.end());
  const auto read = [&](const Field& field, const Node& node, Problems& found) {
    found.collect([&] {
      const Node& value = node.required("value", field.path);
      node.only_keys(known, field.path);
      FittedValue fitted;
      if (const Node* interval = node.find(kInterval))
        fitted.interval80 = interval_text(field, *interval, found);
      if (more) found.collect([&] { more(field, node, fitted); });
      read_plain_value(field, value, found);
      values[field.path] = std::move(fitted);
    });
  };
  load_fields(factors, list, {}, read, problems);
  return values;
}

std::pair<double, double> read_interval80(const Node& node) {
  if (!is_pair(node))
    throw UserError(node.where() + ": interval80: expected two numbers: [low, high]");
  constexpr double kMaxRatio = 100;
  return {number_at(node.items[0], kInterval, 0, kMaxRatio),
          number_at(node.items[1], kInterval, 0, kMaxRatio)};
}

}  // namespace foretell
