#include "model/config/unit_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"

namespace foretell {

namespace {

struct Unit {
  std::string_view name;
  double scale;  // base units in one of it
};

struct DimensionUnits {
  Dimension dimension;
  std::string_view name;
  std::string_view example;
  std::vector<Unit> units;
};

constexpr double kKi = 1024.0;
constexpr double kMi = kKi * kKi;
constexpr double kGi = kMi * kKi;
constexpr double kTi = kGi * kKi;
constexpr double kHour = 3600.0;

// Every unit that can be written, with one spelling each.
const std::vector<DimensionUnits>& unit_table() {
  static const std::vector<DimensionUnits> kTable = {
      {{1, 0, 0, 0, 0},
       "time",
       "146 ns",
       {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}, {"ps", 1e-12}}},
      {{0, 1, 0, 0, 0},
       "data size",
       "24 MiB",
       {{"B", 1},
        {"kB", 1e3},
        {"MB", 1e6},
        {"GB", 1e9},
        {"TB", 1e12},
        {"KiB", kKi},
        {"MiB", kMi},
        {"GiB", kGi},
        {"TiB", kTi}}},
      {{-1, 1, 0, 0, 0},
       "data rate",
       "820 GB/s",
       {{"B/s", 1},
        {"kB/s", 1e3},
        {"MB/s", 1e6},
        {"GB/s", 1e9},
        {"TB/s", 1e12},
        {"KiB/s", kKi},
        {"MiB/s", kMi},
        {"GiB/s", kGi},
        {"TiB/s", kTi},
        {"Mbit/s", 1e6 / 8},
        {"Gbit/s", 1e9 / 8},
        {"Tbit/s", 1e12 / 8}}},
      {{0, 0, 0, 1, 0}, "cycle count", "64 cycles", {{"cycles", 1}}},
      {{-1, 0, 0, 1, 0},
       "frequency",
       "2.8 GHz",
       {{"Hz", 1}, {"kHz", 1e3}, {"MHz", 1e6}, {"GHz", 1e9}}},
      {{0, 0, 1, 0, 0},
       "amount of arithmetic",
       "8 GFLOP",
       {{"FLOP", 1}, {"MFLOP", 1e6}, {"GFLOP", 1e9}, {"TFLOP", 1e12}}},
      {{-1, 0, 1, 0, 0},
       "arithmetic rate",
       "190 TFLOP/s",
       {{"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}}},
      {{0, 1, 0, -1, 0}, "data rate per cycle", "64 B/cycle", {{"B/cycle", 1}}},
      {{0, 0, 0, 0, 1}, "amount of money", "0.76 USD", {{"USD", 1}}},
      {{-1, 0, 0, 0, 1}, "price over time", "0.76 USD/h", {{"USD/h", 1 / kHour}}},
      {{0, 0, 0, 0, 0, 1},
       "amount of energy",
       "2.5 J",
       {{"J", 1}, {"mJ", 1e-3}, {"kJ", 1e3}, {"kWh", 1e3 * kHour}}},
      {{-1, 0, 0, 0, 0, 1}, "power", "700 W", {{"W", 1}, {"mW", 1e-3}, {"kW", 1e3}}},
  };
  return kTable;
}

const DimensionUnits& units_of(Dimension dimension) {
  for (const DimensionUnits& entry : unit_table()) {
    if (entry.dimension == dimension) return entry;
  }
  throw InternalError(__FILE__, __LINE__, "a dimension without units");
}

// The dimension that a unit belongs to, or null.
const DimensionUnits* dimension_with_unit(std::string_view name) {
  for (const DimensionUnits& entry : unit_table()) {
    for (const Unit& unit : entry.units) {
      if (unit.name == name) return &entry;
    }
  }
  return nullptr;
}

std::vector<std::string> unit_names(const DimensionUnits& entry) {
  std::vector<std::string> names;
  for (const Unit& unit : entry.units) names.emplace_back(unit.name);
  return names;
}

struct NumberText {
  double number;
  std::string_view rest;  // what follows the number, without white space at its ends
};

NumberText split_number(std::string_view text) {
  const std::string_view trimmed = trim(text);
  if (trimmed.empty()) throw UserError("the value is empty");
  const LeadingNumber number = leading_number(trimmed);
  if (!number.is_number) throw UserError(fmt::format("'{}' is not a number", trimmed));
  if (!number.fits)
    throw UserError(fmt::format("'{}' is too large or too small for a number", trimmed));
  if (!std::isfinite(number.value))
    throw UserError(fmt::format("'{}' is not a finite number", trimmed));
  return {number.value, trim(number.rest)};
}

std::string nearest_unit(std::string_view unit, const std::vector<std::string>& names) {
  constexpr std::string_view kBitsPerSecond = "bps";
  if (ends_with(unit, kBitsPerSecond)) {  // "Gbps" looks like "GB/s", which is eight times as much
    unit.remove_suffix(kBitsPerSecond.size());
    std::string bits = std::string(unit) + "bit/s";
    if (std::find(names.begin(), names.end(), bits) != names.end()) return bits;
  }
  return nearest_name(unit, names);
}

std::string with_article(std::string_view noun) {
  constexpr std::string_view kVowels = "aeiou";
  const bool vowel = kVowels.find(noun.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", noun);
}

std::string wrong_unit(std::string_view text, std::string_view unit, const DimensionUnits& wanted) {
  if (const DimensionUnits* other = dimension_with_unit(unit)) {
    return fmt::format("'{}' is {}; expected {} such as '{}'", text, with_article(other->name),
                       with_article(wanted.name), wanted.example);
  }
  const std::vector<std::string> names = unit_names(wanted);
  const std::string nearest = nearest_unit(unit, names);
  std::string message = fmt::format("'{}': unknown unit '{}'", text, unit);
  if (!nearest.empty()) message += fmt::format("; nearest is '{}'", nearest);
  return message + fmt::format("; units of {}: {}", with_article(wanted.name), join(names, ", "));
}

}  // namespace

double parse_quantity(std::string_view text, Dimension dimension) {
  const NumberText parsed = split_number(text);
  if (dimension == Dimension{}) {
    if (parsed.rest.empty()) return parsed.number;
    throw UserError(
        fmt::format("'{}' ends in '{}'; expected a plain number", trim(text), parsed.rest));
  }
  const DimensionUnits& wanted = units_of(dimension);
  if (parsed.rest.empty()) {
    throw UserError(fmt::format("'{}' has no unit; write for example '{}' (units: {})", trim(text),
                                wanted.example, join(unit_names(wanted), ", ")));
  }
  for (const Unit& unit : wanted.units) {
    if (unit.name != parsed.rest) continue;
    const double value = parsed.number * unit.scale;
    if (!std::isfinite(value)) {
      throw UserError(fmt::format("'{}' is too large for a number", trim(text)));
    }
    return value;
  }
  throw UserError(wrong_unit(trim(text), parsed.rest, wanted));
}

std::optional<AnyQuantity> find_unit(std::string_view name) {
  for (const DimensionUnits& entry : unit_table()) {
    for (const Unit& unit : entry.units) {
      if (unit.name == name) return AnyQuantity{unit.scale, entry.dimension};
    }
  }
  return std::nullopt;
}

std::optional<AnyQuantity> parse_any_quantity(std::string_view text) {
  const LeadingNumber number = leading_number(trim(text));
  if (!number.is_number || !number.fits || !std::isfinite(number.value)) return std::nullopt;
  const std::string_view rest = trim(number.rest);
  if (rest.empty()) return AnyQuantity{number.value, {}};
  const std::optional<AnyQuantity> unit = find_unit(rest);
  if (!unit || !std::isfinite(number.value * unit->value)) return std::nullopt;
  return AnyQuantity{number.value * unit->value, unit->dimension};
}

bool has_unit(Dimension dimension) {
  const auto& table = unit_table();
  return dimension == Dimension{} ||
         std::any_of(table.begin(), table.end(), [dimension](const DimensionUnits& entry) {
           return entry.dimension == dimension;
         });
}

long long parse_integer(std::string_view text) {
  const double value = parse_quantity(text, Dimension{});
  constexpr double kExact = 9007199254740992.0;  // 2^53: above it not every integer exists
  if (value != std::floor(value) || std::abs(value) > kExact) {
    throw UserError(fmt::format("'{}' is not a whole number", trim(text)));
  }
  return static_cast<long long>(value);
}

std::string format_quantity(double value, Dimension dimension) {
  FORETELL_CHECK(std::isfinite(value), "a quantity that is not finite cannot be written");
  if (dimension == Dimension{}) return fmt::format("{:.12g}", value);
  std::string best;
  std::size_t best_cost = 0;
  for (const Unit& unit : units_of(dimension).units) {
    const double number = value / unit.scale;
    std::string text = fmt::format("{:.12g} {}", number, unit.name);
    const bool is_handy = std::abs(number) >= 1 && std::abs(number) < 1000;
    constexpr std::size_t kLongText = 100;  // "1e+15 B/s" is for a value that no unit suits
    const bool has_exponent =
        text.find("e+") != std::string::npos || text.find("e-") != std::string::npos;
    const std::size_t cost = text.size() + (is_handy ? 0 : 1) + (has_exponent ? kLongText : 0);
    if (best.empty() || cost < best_cost) {
      best = std::move(text);
      best_cost = cost;
    }
  }
  return best;
}

std::string short_quantity(double value, Dimension dimension) {
  std::string exact = format_quantity(value, dimension);
  std::string rounded = format_quantity(rounded_to(value, 6), dimension);
  const bool is_count = dimension == Dimension{} && value == std::round(value);
  return is_count || exact.size() <= rounded.size() ? exact : rounded;
}

std::string describe(Dimension dimension) {
  if (dimension == Dimension{}) return "number";
  const DimensionUnits& entry = units_of(dimension);
  return fmt::format("{} ({})", entry.name, join(unit_names(entry), ", "));
}

}  // namespace foretell
