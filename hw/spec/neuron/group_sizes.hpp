// How many cores may run one program together.
#pragma once

#include <string>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"

namespace foretell {

// "2, 4, 8" as ascending numbers. UserError unless they are whole, above 1 and ascending.
std::vector<int> parse_group_sizes(const std::string& text);

// Degrees of tensor parallelism that the vendor allows, that fill devices and that the instance has
// the cores for; 1 is always among them.
std::vector<int> allowed_group_sizes(const NeuronSystemSpec& system);

// UserError that lists the allowed degrees unless `ranks` is one of them (`what` names them), and
// for several ranks unless every ring has a CC-core for each core of a device.
void require_group_size(const NeuronSystemSpec& system, int ranks,
                        const std::string& what = "tensor parallel degree");

}  // namespace foretell
