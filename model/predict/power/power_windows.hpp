// A long call in windows of time, each of which has a clock of its own.
#pragma once

#include <cstddef>
#include <vector>

#include "model/base/energy_work.hpp"
#include "model/base/metrics.hpp"
#include "model/timing/shared/energy_timing.hpp"

namespace foretell {

// Operators that follow one another: those of Metrics from `first` up to `last`, without it.
struct PowerWindow {
  std::size_t first = 0;
  std::size_t last = 0;
};

// Windows of equal time, as near to that of a window as divides the call; one for a call shorter
// than a window and a half. An operator belongs to the window that holds its middle; a window that
// holds none is none. Together they hold every operator once. Empty without operators.
std::vector<PowerWindow> power_windows(const Metrics& metrics, Seconds length);

// What is done in a window, and how long it takes.
struct WindowLoad {
  EnergyWork work;
  Seconds time;

  Watts power_at_clock(double clock, const DeviceEnergy& energy) const;
};
WindowLoad load_of(const PowerWindow& window, const Metrics& metrics);

// Joules of operators that a limit leaves, as shares of what they would draw, by number of window:
// below 1 where those of a window would draw more than `most` lets a device (with `idle`) in the
// time that was measured under it. At the lowest clock a limit leaves all: the board draws more.
// `most` 0: no limit.
std::vector<double> shares_within(const Metrics& metrics, const DeviceEnergy& energy, Watts idle,
                                  Watts most);

}  // namespace foretell
