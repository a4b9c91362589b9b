// What a run decides about the mapping; how SBUF is shared otherwise is core.scheduling.
#pragma once

#include "model/base/units.hpp"

namespace foretell {

struct SchedulingParameters {
  // Bytes of SBUF that may hold weights which have been loaded and not yet used.
  Bytes prefetch_window;
};

}  // namespace foretell
