// Quantities as text: "820 GB/s", "24 MiB", "146 ns", "0.76 USD/h".
//
// A quantity is a finite number, optional white space and a unit; the unit is mandatory. GB is
// 1e9 bytes, GiB is 2^30 bytes. Numbers without dimension (counts, ratios) have no unit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/base/energy_units.hpp"
#include "model/base/units.hpp"

namespace foretell {

// Exponents of second, byte, flop, cycle and dollar, as in Quantity, and of joule.
struct Dimension {
  int time = 0;
  int data = 0;
  int work = 0;
  int cycle = 0;
  int money = 0;
  int energy = 0;
};
constexpr bool operator==(Dimension a, Dimension b) {
  return a.time == b.time && a.data == b.data && a.work == b.work && a.cycle == b.cycle &&
         a.money == b.money && a.energy == b.energy;
}
constexpr bool operator!=(Dimension a, Dimension b) { return !(a == b); }

template <class Q>
struct dimension_of;
template <int T, int D, int W, int C, int M>
struct dimension_of<Quantity<T, D, W, C, M>> {
  static constexpr Dimension value{T, D, W, C, M};
};
template <bool PerSecond>
struct dimension_of<EnergyQuantity<PerSecond>> {
  static constexpr Dimension value{PerSecond ? -1 : 0, 0, 0, 0, 0, 1};
};
template <>
struct dimension_of<double> {
  static constexpr Dimension value{};
};

// The number in base units (seconds, bytes, …). UserError: not a number, NaN or infinite, no unit,
// a unit that does not exist or is of another dimension; the message says what to type instead and
// carries no location, which the caller puts in front.
double parse_quantity(std::string_view text, Dimension dimension);

template <class Q>
Q parse_quantity(std::string_view text) {
  return Q(parse_quantity(text, dimension_of<Q>::value));
}

// A number with whatever unit is known, or without one: "820 GB/s", "0.5".
struct AnyQuantity {
  double value = 0;  // in base units
  Dimension dimension;
};
// Nothing when the text is no finite number, or what follows it is no unit.
std::optional<AnyQuantity> parse_any_quantity(std::string_view text);

// What one of a unit is in base units: "GB/s" is 1e9 B/s; nothing for an unknown name.
std::optional<AnyQuantity> find_unit(std::string_view name);

// Whether quantities of this dimension can be written; plain numbers can.
bool has_unit(Dimension dimension);

// A whole number without unit; UserError otherwise.
long long parse_integer(std::string_view text);

// The shortest text of the value to 12 digits, with a number between 1 and 1000 where two are
// equally short: 820e9 B/s is "820 GB/s". `value` is in base units and finite.
std::string format_quantity(double value, Dimension dimension);

// The same to six digits where that is shorter: what is calculated has digits without meaning,
// but 24 MiB stays 24 MiB.
std::string short_quantity(double value, Dimension dimension);

template <int T, int D, int W, int C, int M>
std::string format_quantity(Quantity<T, D, W, C, M> quantity) {
  return format_quantity(quantity.value(), Dimension{T, D, W, C, M});
}

// "data rate (B/s, kB/s, …, GiB/s)", for messages and the documentation.
std::string describe(Dimension dimension);

}  // namespace foretell
