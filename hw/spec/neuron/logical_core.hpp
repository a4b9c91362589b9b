// Logical NeuronCores: software may join physical cores of a device that share memory to one.
#pragma once

#include "hw/spec/neuron/neuron_spec.hpp"

namespace foretell {

// The device as programs see it, whose cores are the logical ones. The compiler divides what an
// operator makes among the physical cores of a logical one: output columns of a product, partitions
// of an element-wise operator. So n cores are one with n times the columns, lanes, on-chip memory
// and DMA engines; the moving operand is in each of them, and its rows do not grow. UserError
// unless the cores of the device make up whole logical ones.
NeuronDeviceSpec with_logical_cores(NeuronDeviceSpec device);

// The same for each device of a system.
NeuronSystemSpec with_logical_cores(NeuronSystemSpec system);

}  // namespace foretell
