// What of a NeuronCore decides which instructions it is given: sizes and a compiler's choices, no
// rate. Mapping gets this instead of the whole core, so a program follows from it, the graph and
// the types alone, and cores that differ in clocks and rates run the same one.
#pragma once

#include "hw/spec/neuron/neuron_spec.hpp"

namespace foretell {

struct CoreShape {
  struct Array {
    int rows = 0;
    int columns = 0;
    int max_moving = 0;
    bool mixes_fp8 = false;
  };
  struct Lanes {
    int lanes = 0;
    Cycles min_interval;
    Cycles access_overhead;
  };

  Array tensor;
  Lanes vector;
  SbufSpec sbuf;
  PsumSpec psum;
  InstructionLimits instruction;
  SchedulingSpec scheduling;
};

CoreShape core_shape(const NeuronCoreSpec& core);

}  // namespace foretell
