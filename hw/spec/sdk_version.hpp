// Releases of the Neuron SDK and what they change.
#pragma once

#include <string>
#include <string_view>

#include "hw/spec/neuron_spec.hpp"

namespace foretell {

// UserError unless the text is two or three numbers with dots: "2.14", "2.14.1".
void check_sdk_version(const std::string& version);

// Engine-time multiplier of an SDK release: that of the smallest key of
// factors.sdk_engine_time that is not older. A key of two numbers covers its patch releases: with
// {"2.9": 1.15, "2.14": 1.11}, "2.9.1" is 1.15, "2.10" and "2.14.2" are 1.11, "2.15.0" is 1.
// 1 for an empty `sdk` (not stated). UserError for a text that is no version.
double sdk_engine_time(const NeuronFactors& factors, std::string_view sdk);

}  // namespace foretell
