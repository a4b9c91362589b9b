// Overrides of a network: "workload.layers=1".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "workloads/import/hf/config/model_config.hpp"

namespace foretell {

// Does the assignment concern the network, and not the machine?
bool is_workload_setting(std::string_view assignment);

// Applies those of `set` that are about the network: layers, decoder_layers, context (the longest,
// with its table of positions), window, and of encoders the share of padding. UserError for other
// paths (with the nearest) and values.
void override_workload(const std::vector<std::string>& set, ModelConfig& config);

}  // namespace foretell
