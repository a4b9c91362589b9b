// What the work of a program file may state: no more than the machine that runs it has.
#pragma once

#include "model/base/units.hpp"
#include "model/program/program.hpp"

namespace foretell {

// Of what is 0, a file may state any amount.
struct StatedLimits {
  int sms = 0;
  BytesPerSecond memory_rate;  // of DRAM or HBM
  BytesPerSecond link_rate;    // of all links of a GPU, one direction
};

// Requires a program that validate() has passed. EntryError for rates and SMs beyond the limits,
// for pipes that are busy longer than their grid lasts, and for work that lasts longer, one entry
// after another, than a simulation of one call counts (100 s).
void check_stated(const Program& program, const StatedLimits& limits);

}  // namespace foretell
