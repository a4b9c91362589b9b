// How the parts of a copy share the experts of a network.
#pragma once

#include <string_view>

#include "model/app/request/prediction.hpp"
#include "workloads/import/hf/config/model_config.hpp"

namespace foretell {

// --ep, --moe-tp and --attention-dp: what the one leaves open follows from the others; --experts, a
// name or a file, becomes a routing. `parts`: what a copy consists of, "GPUs". UserError where they
// contradict one another or the network.
void resolve_expert_ranks(const ModelConfig& model, std::string_view parts, Request& request);

}  // namespace foretell
