// Published dies, each predicted from the others (calib/fitted/shared/die_area.hpp has the form).
#pragma once

#include <array>
#include <string>
#include <vector>

namespace foretell {

// A die of hw/process/dies.yaml and how far the others predict its area: predicted / published - 1.
// Nothing is taken from the die: neither the sizes of the parts nor the densities of the processes,
// which are chosen by the others alone among 56 settings. Nothing is believed of the parts; their
// form was chosen among twenty with all dies in view.
struct LeftOutDie {
  std::string name;
  double mm2 = 0;
  int alike = 0;  // others of its process with memory of its kind
  double error = 0;
};

// Area of logic against that at 4 nm; that at 7 nm lies between those at 8 and 4 nm as the
// densities that foundries state do.
struct LogicAreas {
  double nm16 = 1;  // of 16 and 12 nm
  double nm8 = 1;
};

// Sizes at 4 nm, in the order of their names: mm2 of an SM, of a matrix unit of 512 multiply-adds
// and of a MiB of SRAM; at every process mm2 of a channel of 32 bits and of a stack with their
// controllers, and of what every die has.
struct FittedArea {
  LogicAreas logic;
  std::array<double, 6> parts{};
};
const std::array<const char*, 6>& area_part_names();

std::vector<LeftOutDie> left_out_dies();
FittedArea fitted_area();  // to all of them

}  // namespace foretell
