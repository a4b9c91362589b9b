// A generation as one call: its prefill and its decode steps together.
#pragma once

#include <vector>

#include "model/base/metrics.hpp"

namespace foretell {

// What runs `count` times within a call and takes `time` for all of them, `overhead` of it before
// the device begins.
struct CallPhase {
  const char* name = "";
  const Metrics* metrics = nullptr;  // of one run
  double count = 0;
  Seconds time;
  Seconds overhead;
};

// Operators ("prefill.…", "decode.…") with the time, FLOP and bytes of all their runs; resources as
// shares of the whole; the bottleneck: what bounds the phases that take most of the time together.
// The runs of a phase may differ: their operators share its time as those of `metrics` do.
// The phases must not refer to `call`.
void fill_whole_call(const std::vector<CallPhase>& phases, Metrics& call);

}  // namespace foretell
