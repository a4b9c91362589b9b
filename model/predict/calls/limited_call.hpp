// A call of a GPU at the clock that its power leaves it.
#pragma once

#include <memory>
#include <string>

#include "model/base/energy_units.hpp"
#include "model/predict/calls/gpu_call.hpp"
#include "model/timing/shared/energy_timing.hpp"

namespace foretell {

struct ClockLimits {
  Watts board;       // limit that the board is sold with; kernels were measured under it
  Watts asked;       // limit that is set; 0: that of the board
  double clock = 1;  // share of the boost clock that is set at most
  // Were the kernels measured on a board with more power for an operation?
  bool less_power = false;
};

// A board as it is sold, and the factors of its kernels.
struct SoldBoard {
  GpuSystemSpec system;
  GpuFactors factors;
};

// What a board draws: as it was measured, and as it is asked for, in another process, with another
// memory, at a lower voltage or with another full clock.
struct BoardEnergy {
  DeviceEnergy measured;
  DeviceEnergy asked;
  bool differs = false;                                  // by process, memory or voltage
  std::shared_ptr<const SoldBoard> made_from = nullptr;  // of a board that was changed
};

// Of a board that was changed and takes the power that it needs, where `most` is more than `limit`,
// that of the board that is sold: what is said of it; else "".
std::string free_power_note(Watts most, Watts limit, const DeviceEnergy& energy,
                            const SoldBoard& sold);

// Runs the call; operators say the clock that they ran at.
//
// Kernels were measured under the limit of the board: where the power at the full clock exceeds it,
// their times are those of the clock that it left, c0. A lower limit or clock c changes times by
// the simulated machine at c / c0, whose power at c fits the limit. A limit that no clock keeps
// leaves the lowest one; `power_note` of the result says so. Where the board that is asked for
// draws otherwise than the one that was measured, c is the highest clock at which its own power
// fits, above c0 where it draws less.
//
// A board that was changed (`made_from`) runs at the share of its full clock, c0, that the limit
// left the board that it was made from, whatever it draws: a note says where that is more than that
// one is sold with. A limit that is asked for holds.
//
// A board with less power for an operation than the one that its kernels were measured on does not
// hold the clock of that one: c0 is then the full clock, that of a short kernel, and its own limit
// leaves c.
//
// A call longer than a window and a half (power_windows.hpp) has a clock for each window, the
// highest at which the mean power of the window fits: the machine runs the kernels of each at its
// own.
GpuCallResult run_within(const GpuCall& call, const BoardEnergy& energy, const ClockLimits& limits);

}  // namespace foretell
