// Transitions that are soft in measurements: between two resources, at the size of a cache, and
// under the power limit. Their numbers are calib/fitted/shared/common_factors.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "calib/fitted/shared/common_factors.hpp"

namespace foretell {

// Time of two activities of times a and b that overlap imperfectly: (a^n + b^n)^(1/n). An exponent
// of 1 is their sum, a large one the longer of the two.
inline double overlapped(double a, double b, double exponent) {
  const double longer = std::max(a, b);
  if (!(longer > 0)) return 0;
  return longer * std::pow(1 + std::pow(std::min(a, b) / longer, exponent), 1 / exponent);
}

// The exponent of a kernel with this factor `overlap` whose longer part takes `seconds`: a longer
// kernel hides more of its ramps.
inline double overlap_exponent(const CommonFactors& common, double overlap, double seconds) {
  const double growth = std::pow(seconds / common.overlap_stated_at.value(), common.overlap_growth);
  return std::min(common.overlap_limit, 1 + overlap * growth);
}

// Share of the accesses that miss a cache when `fill` times its capacity is used in turns: none up
// to the capacity, all from 1 + cache_softness times on.
inline double missing_share(const CommonFactors& common, double fill) {
  return std::clamp((fill - 1) / common.cache_softness, 0.0, 1.0);
}

// Times longer is a kernel of `seconds` as the matrix pipe loses clock under the power limit:
// `drop` per decade.
inline double power_stretch(const CommonFactors& common, double drop, double seconds) {
  return 1 + drop * std::max(0.0, std::log10(seconds / common.power_drop_from.value()));
}

}  // namespace foretell
