#include "calib/fit/random.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {
namespace {

constexpr double kTwoPi = 6.283185307179586;

}  // namespace

double Random::uniform() {
  constexpr int kUnusedBits = 11;  // 53 bits fill a double
  return (static_cast<double>(engine_() >> kUnusedBits) + 0.5) * 0x1p-53;
}

double Random::normal() {  // Box and Muller
  const double radius = std::sqrt(-2 * std::log(uniform()));
  return radius * std::cos(kTwoPi * uniform());
}

std::size_t Random::index(std::size_t count) {
  return std::min(count - 1, static_cast<std::size_t>(uniform() * static_cast<double>(count)));
}

}  // namespace foretell
