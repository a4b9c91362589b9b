// Many predictions in forked workers.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"

namespace foretell {

struct PredictionOutcome {
  std::optional<RunRecord> record;
  std::string error;     // why there is no record
  bool is_ours = false;  // the error is a bug of ours and not the user's
  bool stopped = false;  // nothing was predicted: a signal came (stop_signals.hpp)
};

// kSummary: without operators and resources; kByResource: without resources, and all operators
// that wait for the same one are one.
enum class Detail { kEverything, kSummary, kByResource };

// One outcome per request, in order, whatever the number of jobs. `progress` gets the share that
// is done.
std::vector<PredictionOutcome> predict_all(const Predictor& predict,
                                           const std::vector<Request>& requests, int jobs,
                                           Detail detail,
                                           const std::function<void(double)>& progress);

// The value of --jobs; "" is one per processor. UserError when it is no count.
int parse_jobs(const std::string& text);

}  // namespace foretell
