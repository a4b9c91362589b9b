// The one declaration of every parameter of a GPU; see hw/spec/neuron/neuron_fields.hpp for the
// rules.
#pragma once

#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/config/fields.hpp"

namespace foretell {

// The document hw/devices/gpu/<id>.yaml, without its `id`, `name` and `architecture`.
void fields(FieldList& list, GpuDeviceSpec& spec);
// The document hw/systems/gpu/<id>.yaml, without its `id` and `device`.
void fields(FieldList& list, GpuSystemSpec& spec);

// Every parameter of a GPU system under its effective path ("device.hbm.bandwidth").
void all_fields(FieldList& list, GpuSystemSpec& spec);

}  // namespace foretell
