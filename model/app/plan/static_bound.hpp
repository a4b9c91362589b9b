// What a worker can do at most, from single steps and without a simulation over time.
#pragma once

#include <cstdint>
#include <vector>

#include "model/app/serving/request/promise.hpp"
#include "model/app/serving/request/worker_machine.hpp"

namespace foretell {

// The facts of a rank of a worker. Times are those of the prediction; promises and capacities are
// widened by the slack, which covers its error. Of a pipeline, steps follow one another as fast as
// its slowest stage allows.
struct StaticBound {
  double prompt_s = 0;  // the step of a prompt alone, or its slowest stage
  double token_s = 0;   // share of a token in the best decode step that promises and memory allow;
                        // infinite: even one sequence takes longer than promised
  double alone_s = 0;   // an undisturbed request
  std::int64_t batch = 0;  // sequences, a power of two in each batch in flight, whose decode step
                           // is within the promises as they are, without slack; 0: not even one
  bool batch_is_promised = false;  // a promise, not the memory, ends the batch there
};

// The mean of a load, in tokens.
struct MeanRequest {
  double input = 0;
  double output = 0;
  double cached = 0;           // share of the prompt that a step finds in the cache
  double tokens_per_step = 1;  // of a sequence: more than one where guesses are right
};

// `max_batch`: of a rank; 0: no limit.
StaticBound static_bound(const WorkerMachine& machine, const MeanRequest& mean,
                         const std::vector<Promise>& promises, std::int64_t max_batch,
                         double slack);

}  // namespace foretell
