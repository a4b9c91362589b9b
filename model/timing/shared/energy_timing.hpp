// Energy of work on a GPU, and the clock at which its power fits a limit.
//
//   E = active idle * t + busy * t_busy + sum over types of FLOPs * pJ + bytes by level * pJ
//
// Closed forms; apparent energies of calib/fitted/shared/energy_factors.hpp. Below the full voltage
// v what the chip switches costs less by v^2, what leaks of active idle power by v exp(g (v - 1));
// memory and links keep their energy.
#pragma once

#include <string>
#include <vector>

#include "calib/fitted/shared/energy_factors.hpp"
#include "model/base/energy_units.hpp"
#include "model/base/energy_work.hpp"

namespace foretell {

inline constexpr const char* kActiveIdle = "active idle";  // kind of what idle devices draw

struct EnergyPart {
  std::string kind;  // "matrix 16 bit", "dram", "busy", "active idle", …
  Joules energy;
  bool is_calibrated = false;  // its constant was fitted to, or measured on, this very device
};

// Every part above zero, at `clock` (share of the full one), over `time` >= work.busy.
std::vector<EnergyPart> energy_parts(const EnergyWork& work, Seconds time, double clock,
                                     const DeviceEnergy& energy);
Joules total_energy(const std::vector<EnergyPart>& parts);

// Voltage at a clock, both as shares of the full ones: flat up to the knee, then straight to 1, and
// never above what is supplied at most.
double voltage_share(double clock, const PowerFacts& facts);
// Least voltage at which the chip still runs at a clock: that of the curve less the margin.
double least_voltage(double clock, const PowerFacts& facts);

// What the device draws without work, at the voltage of a clock.
Watts idle_power(double clock, const PowerFacts& facts);

// What work adds, in `time`, to what the device draws at the full clock without work: less leaks at
// the voltage of its clock.
Joules added_energy(const EnergyWork& work, Seconds time, double clock, const DeviceEnergy& energy);

// Mean power of work that takes `time` at the full clock, of which the share `scales` (0 … 1) gets
// longer as the clock falls.
Watts power_at(const EnergyWork& work, Seconds time, double scales, double clock,
               const DeviceEnergy& energy);

// A job under a limit of power: it takes `factor` times as long and draws `watts`.
struct SlowedJob {
  double factor = 1;
  Watts watts;
};

// A job that draws `free` watts where no limit binds, under `limit`. All of what it draws above
// active idle falls with its rate and the square of the voltage, idle power by what leaks less;
// at the lowest clock it may draw more than the limit.
SlowedJob slow_down_within(Watts free, Watts limit, const PowerFacts& facts);

// The highest clock, as a share of the full one, at which the mean power is at most `limit`; the
// lowest clock where none is.
double clock_within(const EnergyWork& work, Seconds time, double scales, Watts limit,
                    const DeviceEnergy& energy);

}  // namespace foretell
