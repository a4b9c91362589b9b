// A pipeline of several networks, predicted as the calls of its parts one after the other.
#pragma once

#include "model/app/request/prediction.hpp"

namespace foretell {

// Whether the workload of the request is a pipeline.
bool is_pipeline(const Request& request);

// One call is a batch through all parts. Parts that are called with and without a text do both at
// once on NeuronCores, on two cores per copy, and as a batch twice as large elsewhere. Operators
// are those of one call of each part, one part after the other. `predict_part` predicts one
// network on one system. UserError where an option has no meaning for a pipeline.
RunRecord predict_pipeline(const Request& request, const Predictor& predict_part);

}  // namespace foretell
