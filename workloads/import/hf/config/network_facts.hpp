// What publishers state of a language model: parameters, and what a token costs.
#pragma once

#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

struct NetworkFacts {
  double parameters = 0;  // of the decoder and of a tower beside it
  double tower = 0;       // of these, of the tower
  double active = 0;      // that a token is multiplied with: of experts those that it goes to
  Bytes active_bytes;     // of the same, at their stored types
  double draft = 0;       // of heads that predict further tokens, not among `parameters`
  double kv_bytes_per_token = 0;  // that the cache grows by with every token of a long context
  double kv_bytes_per_first_token = 0;  // the same before windows are full
  double window_bytes = 0;              // of caches that do not grow beyond their window
  double state_bytes = 0;               // of recurrences, whatever the context
  double flops_per_token = 0;           // of one token without context
};

// The facts of a decoder in these data types, for one sequence. UserError for other networks.
NetworkFacts facts_of(const ModelConfig& model, const PrecisionPolicy& precision);

// The two graphs of a network of an encoder and a decoder: an input of `positions` (at least; of a
// whole window), and one token of the decoder after as many, or after all that it can write. Sizes
// that are not about lengths are those of `binding`.
struct EncodedParts {
  Graph encoder;
  Graph decoder;
};
EncodedParts encoded_parts(const ModelConfig& model, Binding binding, std::int64_t positions);

// Elements of the weights of both; those of one name are one weight.
double parameters_of(const EncodedParts& parts);

}  // namespace foretell
