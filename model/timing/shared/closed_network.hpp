// How long two servers take whose work passes through both in stages: loads from memory, and the
// pipes that compute on what was loaded.
//
// A closed queueing network: as many stages circulate as there are buffers for them, each waits for
// the memory, is loaded, waits for the pipes, is computed, and its buffer is loaded again. `ahead`
// stages are in flight ahead of the one that is computed, so that 1 + ahead circulate. With none
// ahead the times add up; with many the longer one counts.
//
// Service times vary from stage to stage (exponential: hits and misses, arbitration, refresh), so
// that the mean value analysis of Reiser and Lavenberg (1980) is exact. For two servers whose work
// takes a and b in all, r = shorter / longer, N = 1 + ahead, it is in closed form
//
//   longer (1 - r^(N+1)) / (1 - r^N),   and longer (N + 1) / N where r = 1.
//
// The formula stands for one event per stage: a simulation of the same network, stage by stage,
// gives the same (model/system/closed_network_test.cpp). N is a mean over thread blocks and time,
// so it need not be whole; between n and n + 1 the formula is at most 5 % faster than n stages for
// a part of the work and n + 1 for the rest (1.3 % from two stages on).
#pragma once

#include <algorithm>
#include <cmath>

namespace foretell {

// In the unit of a and b, none of which is negative; `ahead` >= 0.
inline double closed_network_time(double a, double b, double ahead) {
  const double longer = std::max(a, b);
  const double shorter = std::min(a, b);
  if (!(shorter > 0)) return longer;
  const double stages = 1 + ahead;
  const double ratio = std::log(shorter / longer);
  if (ratio > -1e-9) return longer * (stages + 1) / stages;
  return longer * std::expm1((stages + 1) * ratio) / std::expm1(stages * ratio);
}

}  // namespace foretell
