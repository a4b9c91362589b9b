// Energy and power with their dimension in the type: joules, and watts = joules per second. They
// mix with Seconds alone; other products are made of their value().
#pragma once

#include <type_traits>

#include "model/base/units.hpp"

namespace foretell {

template <bool PerSecond>
class EnergyQuantity {
 public:
  constexpr EnergyQuantity() = default;
  constexpr explicit EnergyQuantity(double value) : value_(value) {}
  constexpr double value() const { return value_; }

  constexpr EnergyQuantity& operator+=(EnergyQuantity other) {
    value_ += other.value_;
    return *this;
  }
  friend constexpr EnergyQuantity operator+(EnergyQuantity a, EnergyQuantity b) {
    return EnergyQuantity(a.value_ + b.value_);
  }
  friend constexpr EnergyQuantity operator-(EnergyQuantity a, EnergyQuantity b) {
    return EnergyQuantity(a.value_ - b.value_);
  }
  friend constexpr EnergyQuantity operator*(EnergyQuantity a, double b) {
    return EnergyQuantity(a.value_ * b);
  }
  friend constexpr EnergyQuantity operator/(EnergyQuantity a, double b) {
    return EnergyQuantity(a.value_ / b);
  }
  friend constexpr double operator/(EnergyQuantity a, EnergyQuantity b) {
    return a.value_ / b.value_;
  }
  friend constexpr bool operator<(EnergyQuantity a, EnergyQuantity b) {
    return a.value_ < b.value_;
  }
  friend constexpr bool operator>(EnergyQuantity a, EnergyQuantity b) { return b < a; }

 private:
  double value_ = 0;
};

using Joules = EnergyQuantity<false>;
using Watts = EnergyQuantity<true>;

constexpr Joules operator*(Watts power, Seconds time) {
  return Joules(power.value() * time.value());
}
constexpr Watts operator/(Joules energy, Seconds time) {
  return Watts(energy.value() / time.value());
}

}  // namespace foretell
