// Simulated time as the components count it: whole femtoseconds, the resolution of the SystemC
// kernel here. This is the only place where Seconds become ticks and ticks become sc_time.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <systemc>

#include "model/base/units.hpp"

namespace foretell {

using Ticks = std::int64_t;  // femtoseconds
inline constexpr double kTicksPerSecond = 1e15;
// A call that lasts longer fails, so that the longest part after it still fits into Ticks.
inline constexpr Seconds kLongestCall(4000);
inline constexpr Seconds kLongestPart(5000);

// Those of kLongestPart for a longer time.
inline Ticks to_ticks(Seconds time) {
  return std::llround(std::min(time, kLongestPart).value() * kTicksPerSecond);
}

// Whole ticks of one number after another, most of which are like the one before.
class WholeTicks {
 public:
  Ticks of(double ticks) {
    if (ticks != exact_) {
      exact_ = ticks;
      whole_ = std::llround(ticks);
    }
    return whole_;
  }

 private:
  double exact_ = 0;
  Ticks whole_ = 0;
};

inline Seconds to_seconds(Ticks ticks) {
  return Seconds(static_cast<double>(ticks) / kTicksPerSecond);
}

// Requires sc_set_time_resolution(1, SC_FS), which SimulationContext does.
inline sc_core::sc_time to_sc_time(Ticks ticks) {
  return sc_core::sc_time::from_value(static_cast<sc_dt::uint64>(ticks));
}
inline Ticks to_ticks(const sc_core::sc_time& time) { return static_cast<Ticks>(time.value()); }
inline Ticks now_ticks() { return to_ticks(sc_core::sc_time_stamp()); }

}  // namespace foretell
