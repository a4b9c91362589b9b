// Many services, simulated in forked workers: those of equal machines by one process, as they share
// what they execute.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "model/app/serving/request/serve.hpp"
#include "model/app/tables/row_prediction.hpp"

namespace foretell {

// One prediction per request, in order, whatever the number of jobs. `prediction_of` gets the
// position of a request and what came out; what it or the service throws is the error of the
// request. `progress` gets the share that is done.
std::vector<RowPrediction> serve_many(
    const std::vector<ServeRequest>& requests, const Predictor& predict, int jobs,
    const std::function<RowPrediction(std::size_t, const ServeSummary&)>& prediction_of,
    const std::function<void(double)>& progress = {});

}  // namespace foretell
