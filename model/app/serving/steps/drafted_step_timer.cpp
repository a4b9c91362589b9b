#include "model/app/serving/steps/drafted_step_timer.hpp"

#include <algorithm>
#include <utility>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

// A pass of the draft network that gives every sequence its next guess; padded as the step is.
StepShape guess_shape(const StepShape& step) {
  StepShape guess;
  guess.decodes = step.decodes;
  guess.decode_positions = step.decode_positions;
  const bool padded = step.chunks.empty() && step.padded_tokens > step.tokens();
  guess.padded_tokens =
      padded
          ? std::max(step.decodes, step.padded_tokens / std::max<std::int64_t>(1, step.tokens_each))
          : step.decodes;
  return guess;
}

StepShape prompt_shape(const StepShape& step) {
  StepShape prompt;
  prompt.chunks = step.chunks;
  prompt.finished_prompts = step.finished_prompts;
  prompt.padded_tokens = prompt.tokens();
  return prompt;
}

void add_passes(const StepTime& one, double passes, StepTime& sum) {
  sum.total += one.total * passes;
  sum.attention += one.attention * passes;
  sum.prompts += one.prompts * passes;
  sum.exchange += one.exchange * passes;
  sum.launches += one.launches * passes;
  sum.energy += one.energy * passes;
}

}  // namespace

DraftedStepTimer::DraftedStepTimer(std::unique_ptr<StepTimer> target,
                                   std::unique_ptr<StepTimer> draft, std::int64_t drafts)
    : target_(std::move(target)), draft_(std::move(draft)), drafts_(drafts) {
  FORETELL_CHECK(drafts_ > 0 && target_->stages() == 1 && draft_->stages() == 1,
                 "guesses are at least one, of networks without stages");
}

StepTime DraftedStepTimer::time(const StepShape& shape, int stage) {
  StepTime sum = target_->time(shape, stage);
  if (shape.decodes > 0)
    add_passes(draft_->time(guess_shape(shape), 0), static_cast<double>(drafts_), sum);
  if (!shape.chunks.empty()) add_passes(draft_->time(prompt_shape(shape), 0), 1, sum);
  return sum;
}

}  // namespace foretell
