// The one declaration of every hardware parameter: name, member, allowed range, meaning.
//
// Ranges are wide on purpose: they catch wrong units and typing errors, not unusual designs
// built. What has to fit together is checked by check_system (hw/spec/shared/checks.hpp).
#pragma once

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/config/fields.hpp"

namespace foretell {

void fields(FieldList& list, TensorEngineSpec& spec);
void fields(FieldList& list, LaneEngineSpec& spec);
void fields(FieldList& list, EngineAccess& spec);
void fields(FieldList& list, SbufSpec& spec);
void fields(FieldList& list, PsumSpec& spec);
void fields(FieldList& list, DmaSpec& spec);
void fields(FieldList& list, InstructionLimits& spec);
void fields(FieldList& list, HbmSpec& spec);
void fields(FieldList& list, LinkSpec& spec);
void fields(FieldList& list, CollectiveSpec& spec);
void fields(FieldList& list, HostSpec& spec);

// The document hw/cores/<id>.yaml, without its `id`.
void fields(FieldList& list, NeuronCoreSpec& spec);
// The document hw/devices/<id>.yaml, without its `id`, `name` and `core` (the id of its core).
void fields(FieldList& list, NeuronDeviceSpec& spec);
// The document hw/systems/<id>.yaml, without its `id` and `device`.
void fields(FieldList& list, NeuronSystemSpec& spec);

// Every parameter of a system under its effective path ("core.tensor.clock"); the list refers to
// the system.
void all_fields(FieldList& list, NeuronSystemSpec& spec);

}  // namespace foretell
