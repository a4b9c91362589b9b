// What cannot be known about the vendor's compiler, as named parameters of the mapping.
#pragma once

#include "model/base/units.hpp"

namespace foretell {

struct SchedulingParameters {
  // Bytes of SBUF that may hold weights which have been loaded and not yet used.
  Bytes prefetch_window;
  // A tensor larger than this share of SBUF goes to HBM between operators.
  double spill_fraction = 0.8;
  // Scores of so many heads are kept in SBUF together for one softmax.
  double softmax_share = 0.25;
};

}  // namespace foretell
