// What a run decides about the mapping; how SBUF is shared otherwise is core.scheduling.
#pragma once

#include "model/base/units.hpp"

namespace foretell {

struct SchedulingParameters {
  // Bytes of SBUF that may hold weights which have been loaded and not yet used.
  Bytes prefetch_window;
  // Operators are loops over tokens, one after the other, where an operand of a product does not
  // fit SBUF: what does not fit passes through HBM as a whole, also from hand to hand.
  bool operator_loops = false;
};

}  // namespace foretell
