#include "model/app/plan/static_bound.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace foretell {
namespace {

constexpr std::int64_t kMostSequences = 1024;

double step_limit(const std::vector<Promise>& promises) {
  double limit = std::numeric_limits<double>::infinity();
  for (const Promise& promise : promises) {
    if (promise.metric == "tpot") limit = std::min(limit, promise.limit.value());
  }
  return limit;
}

}  // namespace

StaticBound static_bound(const WorkerMachine& machine, const MeanRequest& mean,
                         const std::vector<Promise>& promises, std::int64_t max_batch,
                         double slack) {
  const auto input = std::max<std::int64_t>(1, std::llround(mean.input));
  const auto cached = std::min(input - 1, std::int64_t{std::llround(mean.input * mean.cached)});
  const auto rows = std::max<std::int64_t>(2, std::llround(mean.input + mean.output / 2));
  StaticBound bound;
  StepShape prompt;
  prompt.chunks = {{input - cached, cached}};
  prompt.finished_prompts = 1;
  prompt.images = machine.images;
  prompt.padded_tokens = input - cached;
  const PassTime prefill = pass_time(machine, prompt);
  bound.prompt_s = prefill.slowest.value();

  const double free =
      machine.capacity.value() - machine.weights.value() - machine.workspace.value();
  const double held = machine.kv_per_token.value() > 0
                          ? free / (machine.kv_per_token.value() * static_cast<double>(input))
                          : static_cast<double>(kMostSequences);
  // One of the batches in flight, which are as many as there are stages.
  const std::int64_t batches = machine.stages;
  const double limit = step_limit(promises);
  bound.token_s = std::numeric_limits<double>::infinity();
  const std::int64_t most = max_batch > 0
                                ? std::clamp<std::int64_t>(max_batch / batches, 1, kMostSequences)
                                : kMostSequences;
  for (std::int64_t batch = 1; batch <= most; batch *= 2) {
    if (batch > 1 && static_cast<double>(batch * batches) > held) break;
    StepShape decode;
    decode.decodes = batch;
    decode.decode_positions = batch * rows;
    decode.padded_tokens = batch;
    const PassTime step = pass_time(machine, decode);
    const double step_s = step.all.value() / mean.tokens_per_step;
    if (batch == 1) bound.alone_s = prefill.all.value() + (mean.output - 1) * step_s;
    if (step_s <= limit) {
      bound.batch = batch * batches;
    } else {
      bound.batch_is_promised = true;
    }
    if (step_s > limit * slack) break;
    bound.token_s = std::min(
        bound.token_s, step.slowest.value() / mean.tokens_per_step / static_cast<double>(batch));
  }
  return bound;
}

}  // namespace foretell
