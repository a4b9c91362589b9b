#include "hw/spec/neuron/core_shape.hpp"

namespace foretell {

CoreShape core_shape(const NeuronCoreSpec& core) {
  CoreShape shape;
  shape.tensor = {core.tensor.rows, core.tensor.columns, core.tensor.max_moving,
                  core.tensor.mixes_fp8 != 0};
  shape.vector = {core.vector.lanes, core.vector.min_interval, core.vector.access_overhead};
  shape.sbuf = core.sbuf;
  shape.psum = core.psum;
  shape.instruction = core.instruction;
  shape.scheduling = core.scheduling;
  return shape;
}

}  // namespace foretell
