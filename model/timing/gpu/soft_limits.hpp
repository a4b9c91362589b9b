// Transitions that are soft in measurements: at the size of a cache and under the power limit; and
// how many stages long kernels have in flight. Their numbers are
// calib/fitted/shared/common_factors.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "calib/fitted/shared/common_factors.hpp"

namespace foretell {

// Stages in flight ahead (closed_network.hpp) in a kernel with the factor `stages_ahead` whose
// longer part takes `seconds`: a longer kernel hides more of its ramps.
inline double grown_stages_ahead(const CommonFactors& common, double ahead, double seconds) {
  const double growth = std::pow(seconds / common.stages_stated_at.value(), common.stages_growth);
  return std::min(common.stages_limit, ahead * growth);
}

// Share of the accesses that miss a cache when `fill` times its capacity is used in turns: none up
// to the capacity, all from 1 + cache_softness times on.
inline double missing_share(const CommonFactors& common, double fill) {
  return std::clamp((fill - 1) / common.cache_softness, 0.0, 1.0);
}

// Times longer is a kernel of `seconds` as the matrix pipe loses clock under the power limit:
// `drop` per decade, until it has settled.
inline double power_stretch(const CommonFactors& common, double drop, double seconds) {
  const double reached = std::min(seconds, common.power_drop_until.value());
  return 1 + drop * std::max(0.0, std::log10(reached / common.power_drop_from.value()));
}

}  // namespace foretell
