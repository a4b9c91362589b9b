// What a worker can do at most, from single steps and without a simulation over time.
#pragma once

#include <cstdint>
#include <vector>

#include "model/app/serving/request/promise.hpp"
#include "model/app/serving/request/worker_machine.hpp"

namespace foretell {

// Requests per second that one worker answers at most: a prompt takes at least its own step, a
// token its share of the best decode step whose time the promises allow and whose sequences the
// memory holds. 0 when even one sequence takes longer than a promise allows. The limits are widened
// by `slack`, which covers the error of the prediction.
double most_requests_per_s(const WorkerMachine& machine, double mean_input, double mean_output,
                           const std::vector<Promise>& promises, double slack);

}  // namespace foretell
