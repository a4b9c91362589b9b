// What publishers state of a language model: parameters, and what a token costs.
#pragma once

#include "workloads/import/hf/model_config.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

struct NetworkFacts {
  double parameters = 0;  // of the decoder and of a tower beside it
  double tower = 0;       // of these, of the tower
  double active = 0;      // that a token is multiplied with: of experts those that it goes to
  double draft = 0;       // of heads that predict further tokens, not among `parameters`
  double kv_bytes_per_token = 0;  // that the cache grows by with every token of a long context
  double window_bytes = 0;        // of caches that do not grow beyond their window
  double state_bytes = 0;         // of recurrences, whatever the context
  double flops_per_token = 0;     // of one token without context
};

// Of a decoder in these data types, for one sequence. UserError for other networks.
NetworkFacts facts_of(const ModelConfig& model, const PrecisionPolicy& precision);

}  // namespace foretell
