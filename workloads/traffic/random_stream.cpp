#include "workloads/traffic/random_stream.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // the odd number that spreads streams
constexpr double kMantissa = 0x1p-53;
constexpr double kTwoPi = 6.283185307179586;

}  // namespace

RandomStream::RandomStream(std::uint64_t seed, std::uint64_t number)
    : generator_(seed + kGolden * (number + 1)) {}

double RandomStream::uniform() { return static_cast<double>(generator_() >> 11) * kMantissa; }

double RandomStream::exponential() { return -std::log1p(-uniform()); }

// Box and Muller.
double RandomStream::normal() {
  const double radius = std::sqrt(2 * exponential());
  return radius * std::cos(kTwoPi * uniform());
}

// Marsaglia and Tsang (2000); below 1 a gamma of shape + 1 times u^(1/shape).
double RandomStream::gamma(double shape) {
  if (shape < 1) {
    const double more = gamma(shape + 1);
    return more * std::pow(std::max(uniform(), kMantissa), 1 / shape);
  }
  const double d = shape - 1.0 / 3;
  const double c = 1 / std::sqrt(9 * d);
  while (true) {
    const double x = normal();
    const double v = std::pow(1 + c * x, 3);
    if (v <= 0) continue;
    const double u = std::max(uniform(), kMantissa);
    if (std::log(u) < x * x / 2 + d - d * v + d * std::log(v)) return d * v;
  }
}

std::int64_t RandomStream::whole(std::int64_t low, std::int64_t high) {
  const auto count = static_cast<double>(high - low + 1);
  return std::min(high, low + static_cast<std::int64_t>(uniform() * count));
}

}  // namespace foretell
