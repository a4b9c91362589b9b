// Time and energy as a function of two sizes, executed at the points of a grid where it is asked
// for and interpolated between them.
#pragma once

#include <cstdint>
#include <functional>
#include <unordered_map>

#include "model/base/energy_units.hpp"
#include "model/base/units.hpp"

namespace foretell {

// Which sizes of an axis are executed: every one up to `fine`, then this many per doubling.
struct GridAxis {
  std::int64_t fine = 8;
  std::int64_t per_octave = 8;
  std::int64_t highest = std::int64_t{1} << 40;  // nothing above is executed

  std::int64_t below(std::int64_t size) const;
  std::int64_t above(std::int64_t size) const;
};

// What a call takes: its time, and the energy of one device above active idle.
struct CallCost {
  Seconds time;
  Joules energy;
};

class LazyGrid {
 public:
  using Function = std::function<CallCost(std::int64_t x, std::int64_t y)>;

  // `exact`: every size is executed.
  LazyGrid(GridAxis x, GridAxis y, bool exact, Function function);

  CallCost at(std::int64_t x, std::int64_t y);
  std::int64_t executed() const { return static_cast<std::int64_t>(known_.size()); }

 private:
  const CallCost& point(std::int64_t x, std::int64_t y);

  GridAxis x_;
  GridAxis y_;
  bool exact_;
  Function function_;
  std::unordered_map<std::uint64_t, CallCost> known_;
};

}  // namespace foretell
