// The answer to one row of a table of kernels.
#pragma once

#include <string>

#include "model/base/units.hpp"

namespace foretell {

struct RowTime {
  Seconds time;
  Seconds low;  // 80 % interval
  Seconds high;
  std::string error;       // why there is no time; "" when there is one
  std::string parts = {};  // what its parts take alone: "DRAM 80 %, thread blocks 40 %"
  std::string note = {};   // whose factors these are when they are not of this chip and library
};

}  // namespace foretell
