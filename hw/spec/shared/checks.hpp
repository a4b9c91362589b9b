// What the parameters of a system have to fulfil together; single ranges are in neuron_fields.cpp.
#pragma once

#include <string_view>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/config/problems.hpp"

namespace foretell {

// Adds one problem per broken rule, each with the parameters that it compares and what would fit.
// `where` stands in front of each ("inf2.xlarge").
void check_system(const NeuronSystemSpec& spec, std::string_view where, Problems& problems);

}  // namespace foretell
