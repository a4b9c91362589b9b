// Physical quantities whose dimension is part of the type.
//
// A Quantity holds one double in the base unit of its dimension: seconds, bytes, flops, cycles,
// US dollars. Multiplying and dividing quantities gives the right type; adding two of different
// dimension does not compile (see units_compile_fail_test). A product without dimension is a
// plain double.
//
// 1 multiply-accumulate = 2 Flops. GB is 1e9 bytes, GiB is 2^30 bytes.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace foretell {

template <int Time, int Data, int Work, int Cycle, int Money>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(double value) : value_(value) {}

  // The number in base units: seconds, bytes, flops, cycles, dollars and their products.
  constexpr double value() const { return value_; }

  constexpr Quantity& operator+=(Quantity other) {
    value_ += other.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity other) {
    value_ -= other.value_;
    return *this;
  }
  constexpr Quantity& operator*=(double factor) {
    value_ *= factor;
    return *this;
  }
  constexpr Quantity& operator/=(double divisor) {
    value_ /= divisor;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity(a.value_ + b.value_);
  }
  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity(a.value_ - b.value_);
  }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.value_); }
  friend constexpr Quantity operator*(Quantity a, double b) { return Quantity(a.value_ * b); }
  friend constexpr Quantity operator*(double a, Quantity b) { return Quantity(a * b.value_); }
  friend constexpr Quantity operator/(Quantity a, double b) { return Quantity(a.value_ / b); }
  friend constexpr bool operator<(Quantity a, Quantity b) { return a.value_ < b.value_; }
  friend constexpr bool operator>(Quantity a, Quantity b) { return a.value_ > b.value_; }
  friend constexpr bool operator<=(Quantity a, Quantity b) { return a.value_ <= b.value_; }
  friend constexpr bool operator>=(Quantity a, Quantity b) { return a.value_ >= b.value_; }
  friend constexpr bool operator==(Quantity a, Quantity b) { return !(a < b) && !(b < a); }
  friend constexpr bool operator!=(Quantity a, Quantity b) { return !(a == b); }

 private:
  double value_ = 0;
};

namespace detail {
template <int T, int D, int W, int C, int M>
constexpr auto make_quantity(double value) {
  if constexpr (T == 0 && D == 0 && W == 0 && C == 0 && M == 0) {
    return value;
  } else {
    return Quantity<T, D, W, C, M>(value);
  }
}
}  // namespace detail

template <int T, int D, int W, int C, int M, int T2, int D2, int W2, int C2, int M2>
constexpr auto operator*(Quantity<T, D, W, C, M> a, Quantity<T2, D2, W2, C2, M2> b) {
  return detail::make_quantity<T + T2, D + D2, W + W2, C + C2, M + M2>(a.value() * b.value());
}
template <int T, int D, int W, int C, int M, int T2, int D2, int W2, int C2, int M2>
constexpr auto operator/(Quantity<T, D, W, C, M> a, Quantity<T2, D2, W2, C2, M2> b) {
  return detail::make_quantity<T - T2, D - D2, W - W2, C - C2, M - M2>(a.value() / b.value());
}

using Seconds = Quantity<1, 0, 0, 0, 0>;
using Bytes = Quantity<0, 1, 0, 0, 0>;
using Flops = Quantity<0, 0, 1, 0, 0>;
using Cycles = Quantity<0, 0, 0, 1, 0>;
using Usd = Quantity<0, 0, 0, 0, 1>;
using Hertz = Quantity<-1, 0, 0, 1, 0>;  // cycles per second: Cycles / Hertz = Seconds
using BytesPerSecond = Quantity<-1, 1, 0, 0, 0>;
using FlopsPerSecond = Quantity<-1, 0, 1, 0, 0>;
using BytesPerCycle = Quantity<0, 1, 0, -1, 0>;
using UsdPerSecond = Quantity<-1, 0, 0, 0, 1>;

template <class T>
struct is_quantity : std::false_type {};
template <int T, int D, int W, int C, int M>
struct is_quantity<Quantity<T, D, W, C, M>> : std::true_type {};

inline constexpr double kGiB = 1024.0 * 1024 * 1024;  // bytes, for messages

namespace literals {
constexpr Seconds operator""_s(long double v) { return Seconds(static_cast<double>(v)); }
constexpr Seconds operator""_ms(long double v) { return Seconds(static_cast<double>(v) * 1e-3); }
constexpr Seconds operator""_us(long double v) { return Seconds(static_cast<double>(v) * 1e-6); }
constexpr Seconds operator""_ns(long double v) { return Seconds(static_cast<double>(v) * 1e-9); }
constexpr Bytes operator""_B(unsigned long long v) { return Bytes(static_cast<double>(v)); }
constexpr Bytes operator""_KiB(unsigned long long v) {
  return Bytes(static_cast<double>(v) * 1024);
}
constexpr Bytes operator""_MiB(unsigned long long v) {
  return Bytes(static_cast<double>(v) * 1048576);
}
constexpr Bytes operator""_GiB(unsigned long long v) {
  return Bytes(static_cast<double>(v) * 1073741824);
}
constexpr Hertz operator""_GHz(long double v) { return Hertz(static_cast<double>(v) * 1e9); }
constexpr BytesPerSecond operator""_GBps(long double v) {
  return BytesPerSecond(static_cast<double>(v) * 1e9);
}
constexpr Cycles operator""_cycles(unsigned long long v) { return Cycles(static_cast<double>(v)); }
}  // namespace literals

}  // namespace foretell
