// Energy of one operation or byte: picojoules, as they are stated, so that sums of many are rounded
// once.
#pragma once

#include "model/base/energy_units.hpp"
#include "model/base/units.hpp"

namespace foretell {

class Picojoules {
 public:
  constexpr Picojoules() = default;
  constexpr explicit Picojoules(double value) : value_(value) {}
  constexpr double value() const { return value_; }
  constexpr Joules joules() const { return Joules(value_ * kInJoules); }

  static constexpr double kInJoules = 1e-12;

 private:
  double value_ = 0;
};
constexpr Picojoules operator*(double count, Picojoules each) {
  return Picojoules(count * each.value());
}

// Of one FLOP or one byte.
template <class Count>
class EnergyPer {
 public:
  constexpr EnergyPer() = default;
  constexpr explicit EnergyPer(double picojoules) : value_(picojoules) {}
  constexpr double value() const { return value_; }  // pJ

  friend constexpr Picojoules operator*(Count count, EnergyPer each) {
    return Picojoules(count.value() * each.value_);
  }
  friend constexpr EnergyPer operator+(EnergyPer a, EnergyPer b) {
    return EnergyPer(a.value_ + b.value_);
  }
  friend constexpr EnergyPer operator-(EnergyPer a, EnergyPer b) {
    return EnergyPer(a.value_ - b.value_);
  }
  friend constexpr bool operator!=(EnergyPer a, EnergyPer b) { return a.value_ != b.value_; }

 private:
  double value_ = 0;
};

using EnergyPerFlop = EnergyPer<Flops>;
using EnergyPerByte = EnergyPer<Bytes>;

}  // namespace foretell
