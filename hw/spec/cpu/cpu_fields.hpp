// The one declaration of every parameter of a CPU; see hw/spec/neuron/neuron_fields.hpp for the
// rules.
#pragma once

#include "hw/spec/cpu/cpu_spec.hpp"
#include "model/config/fields.hpp"

namespace foretell {

// The document hw/devices/cpu/<id>.yaml, without its `id`, `name` and `architecture`.
void fields(FieldList& list, CpuDeviceSpec& spec);
// The document hw/systems/cpu/<id>.yaml, without its `id` and `device`.
void fields(FieldList& list, CpuSystemSpec& spec);

// Every parameter of a CPU system under its effective path ("device.dram.channels").
void all_fields(FieldList& list, CpuSystemSpec& spec);

}  // namespace foretell
