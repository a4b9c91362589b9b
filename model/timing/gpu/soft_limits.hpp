// Two transitions that are soft in measurements: between two resources, and at the size of a cache.
#pragma once

#include <algorithm>
#include <cmath>

namespace foretell {

// Time of two activities of times a and b that overlap imperfectly: (a^n + b^n)^(1/n). An exponent
// of 1 is their sum, a large one the longer of the two.
inline double overlapped(double a, double b, double exponent) {
  const double longer = std::max(a, b);
  if (!(longer > 0)) return 0;
  return longer * std::pow(1 + std::pow(std::min(a, b) / longer, exponent), 1 / exponent);
}

// Share of the accesses that miss a cache when `fill` times its capacity is used in turns: none up
// to the capacity, all from 1.6 times on. Hits do not end at once: replacement is not in order, and
// neither are the accesses.
inline double missing_share(double fill) {
  constexpr double kSoftness = 0.6;
  return std::clamp((fill - 1) / kSoftness, 0.0, 1.0);
}

}  // namespace foretell
