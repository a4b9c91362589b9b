// Published dies, each predicted from the others (calib/fitted/shared/die_area.hpp has the form).
#pragma once

#include <string>
#include <vector>

namespace foretell {

// A die of hw/process/dies.yaml and how far the others predict its area: predicted / published - 1.
// Nothing is taken from the die: neither the sizes of the parts nor the densities of the processes,
// which are chosen by the others alone among 324 settings. The settings and the beliefs about parts
// were written down with all dies in view.
struct LeftOutDie {
  std::string name;
  double mm2 = 0;
  int alike = 0;     // others of its process and kind
  double error = 0;  // with what is believed of the parts before any die is seen
  // The same with beliefs a hundred times as wide: what the areas of the other dies say by
  // themselves.
  double error_without_beliefs = 0;
};

std::vector<LeftOutDie> left_out_dies();

}  // namespace foretell
