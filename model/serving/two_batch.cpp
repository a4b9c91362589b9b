#include "model/serving/two_batch.hpp"

#include <algorithm>

namespace foretell {
namespace {

// As many KV rows for each sequence in both halves, but for the rest of a division.
void halve_decodes(const StepShape& step, StepShape& first, StepShape& second) {
  first.decodes = (step.decodes + 1) / 2;
  second.decodes = step.decodes - first.decodes;
  if (step.decodes > 0)
    first.decode_positions = step.decode_positions * first.decodes / step.decodes;
  second.decode_positions = step.decode_positions - first.decode_positions;
}

void halve_prompts(const StepShape& step, StepShape& first, StepShape& second) {
  std::int64_t left = (step.tokens() + 1) / 2 - first.tokens();
  std::int64_t ended = step.finished_prompts;
  for (const StepChunk& chunk : step.chunks) {
    const std::int64_t here = std::clamp<std::int64_t>(left, 0, chunk.tokens);
    left -= here;
    if (here > 0) first.chunks.push_back({here, chunk.context});
    if (here < chunk.tokens) second.chunks.push_back({chunk.tokens - here, chunk.context + here});
  }
  // Prompts end in the half with their last token; those of the step that do not are few.
  second.finished_prompts = std::min(ended, static_cast<std::int64_t>(second.chunks.size()));
  first.finished_prompts = ended - second.finished_prompts;
}

void pad(const StepShape& step, StepShape& half) {
  const std::int64_t all = std::max<std::int64_t>(1, step.tokens());
  const auto part = [&](std::int64_t of_all) { return (of_all * half.tokens() + all - 1) / all; };
  half.padded_tokens = std::max(half.tokens(), part(step.padded_tokens));
  half.shared_tokens =
      step.shared_tokens > 0 ? std::max(std::int64_t{1}, part(step.shared_tokens)) : 0;
}

}  // namespace

std::vector<StepShape> halves_of(const StepShape& step) {
  StepShape first;
  StepShape second;
  first.tokens_each = second.tokens_each = step.tokens_each;
  halve_decodes(step, first, second);
  halve_prompts(step, first, second);
  if (first.tokens() == 0 || second.tokens() == 0) return {};
  pad(step, first);
  pad(step, second);
  return {first, second};
}

StepTime two_batch_time(const StepTime& first, const StepTime& second, int pieces) {
  StepTime both;
  both.attention = first.attention + second.attention;
  both.prompts = first.prompts + second.prompts;
  both.launches = first.launches + second.launches;
  both.energy = first.energy + second.energy;
  both.handover = first.handover + second.handover;
  const Seconds exchange = first.exchange + second.exchange;
  const Seconds compute = first.total + second.total - exchange;
  if (pieces < 1) {  // nothing to take turns with
    both.exchange = exchange;
    both.total = compute + exchange;
    return both;
  }
  const Seconds first_compute = first.total - first.exchange;
  const Seconds second_compute = second.total - second.exchange;
  const auto n = static_cast<double>(pieces);
  // The first piece of the first half computes alone, and the last piece of the second exchanges
  // alone; in between each piece waits for the one beside it.
  const Seconds inside = std::max(second_compute, first.exchange) +
                         std::max(first_compute, second.exchange) * ((n - 1) / n);
  both.total = first_compute / n + inside + second.exchange / n;
  // Time in which nothing computes.
  both.exchange = std::max(Seconds(0), both.total - compute);
  return both;
}

}  // namespace foretell
