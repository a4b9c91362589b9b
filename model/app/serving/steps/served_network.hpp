// Which networks a service answers with.
#pragma once

#include "workloads/import/hf/config/model_config.hpp"

namespace foretell {

// UserError for what is not a decoder, with the command that answers: a scheduler of tokens puts
// the prompt and the answer of a request into one context, which only decoders have.
void check_served(const ModelConfig& model);

}  // namespace foretell
