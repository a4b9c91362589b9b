#include "model/app/study/variation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "model/app/study/arithmetic.hpp"
#include "model/base/errors.hpp"
#include "model/base/seed.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "model/config/problems.hpp"

namespace foretell {
namespace {

constexpr double kExact = 0x1p53;  // up to here every whole number exists

// A continuous range with a unit.
struct ValueRange {
  double low = 0;
  double high = 0;
  Dimension dimension;
  bool is_log = false;
  bool is_whole = false;

  // `share` 0…1 of the way from low to high.
  double at(double share) const {
    const double value = is_log ? low * std::pow(high / low, share) : low + (high - low) * share;
    return is_whole ? std::round(value) : value;
  }
  std::string text(double value) const {
    return is_whole ? std::to_string(std::llround(value)) : short_quantity(value, dimension);
  }
};

bool is_whole_text(const std::string& text) {
  return !text.empty() && text.find_first_not_of("+-0123456789") == std::string::npos;
}

const Node* range_of(const Node& node) {
  const Node* plain = node.find("range");
  return plain != nullptr ? plain : node.find("log_range");
}

ValueRange read_range(const Node& node, const std::string& key) {
  const Node& ends = *range_of(node);
  if (!ends.is_list() || ends.items.size() != 2) {
    throw UserError(
        fmt::format("{}: {}: a range has two ends: [820 GB/s, 1.6 TB/s]", node.where(), key));
  }
  ValueRange range;
  range.is_log = node.find("log_range") != nullptr;
  range.is_whole = true;
  std::vector<AnyQuantity> values;
  for (const Node& end : ends.items) {
    const std::string& text = end.as_text(key);
    const std::optional<AnyQuantity> value = parse_any_quantity(text);
    if (!value) {
      throw UserError(fmt::format("{}: {}: '{}' is not a number with a unit, such as 820 GB/s",
                                  end.where(), key, text));
    }
    range.is_whole = range.is_whole && is_whole_text(text) && std::abs(value->value) < kExact;
    values.push_back(*value);
  }
  range.low = values[0].value;
  range.high = values[1].value;
  range.dimension = values[0].dimension;
  if (values[0].dimension != values[1].dimension)
    throw UserError(fmt::format("{}: {}: the ends have different units", ends.where(), key));
  if (range.is_log && !(range.low > 0 && range.high > 0)) {
    throw UserError(
        fmt::format("{}: {}: both ends of a log_range have to be above 0", ends.where(), key));
  }
  return range;
}

void append(std::vector<std::string>& values, std::string text) {
  if (values.empty() || values.back() != text) values.push_back(std::move(text));
}

// Values of a range with steps.
std::vector<std::string> spread(const Node& node, const std::string& key) {
  const ValueRange range = read_range(node, key);
  std::vector<std::string> values;
  if (const Node* step = node.find("step")) {
    const std::optional<AnyQuantity> size = parse_any_quantity(step->as_text(key));
    if (range.is_log || !size || !(size->value > 0) || size->dimension != range.dimension) {
      throw UserError(fmt::format(
          "{}: {}: step has to be above 0 and in the unit of the range; a log_range takes steps",
          step->where(), key));
    }
    if (range.high < range.low) {
      throw UserError(
          fmt::format("{}: {}: the range goes down, but step counts up; begin with the smaller end",
                      node.where(), key));
    }
    const double count = std::floor((range.high - range.low) / size->value * (1 + 1e-12)) + 1;
    if (count > static_cast<double>(kMaxPoints))
      throw UserError(fmt::format("{}: {}: gives {:.0f} values", step->where(), key, count));
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i)
      append(values, range.text(range.low + size->value * static_cast<double>(i)));
    return values;
  }
  const Node* steps = node.find("steps");
  if (steps == nullptr)
    throw UserError(fmt::format("{}: {}: say how many values: steps: 5", node.where(), key));
  const long long count = steps->as_integer(key + ".steps", 1, kMaxPoints);
  for (long long i = 0; i < count; ++i) {
    const double share = count == 1 ? 0 : static_cast<double>(i) / static_cast<double>(count - 1);
    append(values, range.text(range.at(share)));
  }
  return values;
}

std::vector<std::string> listed(const Node& node, const std::string& key, bool may_repeat,
                                Problems& problems) {
  std::vector<std::string> values;
  for (const Node& item : node.items) {
    if (!item.is_scalar()) {
      problems.add(item, key, "a list holds single values");
      continue;
    }
    if (!may_repeat && std::find(values.begin(), values.end(), item.text) != values.end()) {
      problems.add(item, key, "'" + item.text + "' stands there twice");
      continue;
    }
    values.push_back(item.text);
  }
  if (node.items.empty()) problems.add(node, key, "no values; give at least one, or leave it out");
  return values;
}

// Whole numbers below `bound`, the same on every machine: the library's distributions are not.
std::uint64_t below(std::mt19937_64& random, std::uint64_t bound) {
  const std::uint64_t rest = (~std::uint64_t{0} % bound + 1) % bound;
  std::uint64_t value = random();
  while (value > ~std::uint64_t{0} - rest) value = random();
  return value % bound;
}

double unit_share(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11U) * 0x1p-53;
}

// One value in each of `points` strata, in random order.
std::vector<std::string> samples(const Node& node, const std::string& key, std::size_t points,
                                 std::mt19937_64& random, Problems& problems) {
  std::optional<ValueRange> range;
  std::vector<std::string> list;
  if (node.is_map() && range_of(node) != nullptr) {
    node.only_keys({"range", "log_range"}, key);
    range = read_range(node, key);
  } else {
    list = read_values(node, key, problems);
  }
  std::vector<std::size_t> order(points);
  for (std::size_t i = 0; i < points; ++i) order[i] = i;
  for (std::size_t i = points; i > 1; --i) std::swap(order[i - 1], order[below(random, i)]);
  std::vector<std::string> values;
  for (const std::size_t stratum : order) {
    const double share =
        (static_cast<double>(stratum) + unit_share(random)) / static_cast<double>(points);
    if (range) {
      values.push_back(range->text(range->at(share)));
    } else if (!list.empty()) {
      const auto index = static_cast<std::size_t>(share * static_cast<double>(list.size()));
      values.push_back(list[std::min(index, list.size() - 1)]);
    }
  }
  return values;
}

}  // namespace

std::string canonical_key(const std::string& key) {
  if (key.find('.') != std::string::npos) return key;
  std::string name = key;
  std::replace(name.begin(), name.end(), '-', '_');
  if (name == "seq_len") return "seq";
  if (name == "system") return "on";
  if (name == "inflight") return "in_flight";
  return name;
}

std::vector<std::string> read_values(const Node& node, const std::string& key, Problems& problems) {
  if (node.is_list()) return listed(node, key, false, problems);
  if (node.is_scalar()) return {node.text};
  std::vector<std::string> values;
  if (node.is_map() && range_of(node) != nullptr) {
    problems.collect([&] {
      node.only_keys({"range", "log_range", "steps", "step"}, key);
      values = spread(node, key);
    });
    return values;
  }
  problems.add(node, key,
               node.is_map() ? "expected a list, {range: [FROM, TO], steps: N} or "
                               "{log_range: [FROM, TO], steps: N}"
                             : "no values; give at least one, or leave it out");
  return values;
}

StudyAxis read_zip(const Node& node, Problems& problems) {
  StudyAxis axis;
  if (!node.is_map() || node.entries.empty()) {
    problems.add(node, "zip", "expected a mapping of keys to lists of the same length");
    return axis;
  }
  for (const MapEntry& entry : node.entries) {
    const std::vector<std::string> values = entry.value.is_list()
                                                ? listed(entry.value, entry.key, true, problems)
                                                : read_values(entry.value, entry.key, problems);
    if (axis.keys.empty()) axis.rows.resize(values.size());
    axis.keys.push_back(canonical_key(entry.key));
    if (values.size() != axis.rows.size()) {
      problems.add(entry.value, entry.key,
                   fmt::format("{} values, but '{}' has {}; what is zipped is equally long",
                               values.size(), axis.keys.front(), axis.rows.size()));
      continue;
    }
    for (std::size_t i = 0; i < values.size(); ++i) axis.rows[i].push_back(values[i]);
  }
  for (std::size_t i = 0; i < axis.rows.size(); ++i) {
    const auto later = axis.rows.begin() + static_cast<std::ptrdiff_t>(i) + 1;
    if (std::find(later, axis.rows.end(), axis.rows[i]) != axis.rows.end())
      problems.add(node, "zip", "'" + join(axis.rows[i], ", ") + "' stands there twice");
  }
  return axis;
}

StudyAxis read_random(const Node& node, Problems& problems) {
  StudyAxis axis;
  problems.collect([&] {
    node.only_keys({"points", "seed", "vary"}, "random");
    const auto points = static_cast<std::size_t>(
        node.required("points", "random").as_integer("random.points", 1, kMaxPoints));
    const Node* seed = node.find("seed");
    std::mt19937_64 random(
        seed == nullptr ? 0U
                        : static_cast<std::uint64_t>(seed->as_integer("random.seed", 0, kMaxSeed)));
    const Node& vary = node.required("vary", "random");
    if (!vary.is_map() || vary.entries.empty())
      throw UserError(vary.where() + ": random.vary: expected a mapping of keys to ranges");
    axis.rows.resize(points);
    for (const MapEntry& entry : vary.entries) {
      const auto values = samples(entry.value, entry.key, points, random, problems);
      if (values.size() != points) continue;  // already a problem
      axis.keys.push_back(canonical_key(entry.key));
      for (std::size_t i = 0; i < points; ++i) axis.rows[i].push_back(values[i]);
    }
  });
  return axis;
}

}  // namespace foretell
