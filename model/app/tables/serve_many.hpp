// Many services, simulated in forked workers: those of equal machines by one process, as they share
// what they execute.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/app/serving/request/serve.hpp"

namespace foretell {

struct ServedLine {
  std::string text;   // what `line_of` made of the result
  std::string error;  // why there is none; empty when there is
};

// One line per request, in order, whatever the number of jobs. `line_of` gets the position of a
// request and what came out, and returns a text without line breaks; what it or the service throws
// is the error of the request. `progress` gets the share that is done.
std::vector<ServedLine> serve_many(
    const std::vector<ServeRequest>& requests, const Predictor& predict, int jobs,
    const std::function<std::string(std::size_t, const ServeSummary&)>& line_of,
    const std::function<void(double)>& progress = {});

}  // namespace foretell
