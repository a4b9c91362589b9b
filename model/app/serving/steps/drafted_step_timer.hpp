// Steps with speculation: a draft network guesses tokens one after the other, on the same devices,
// and the network that is served checks them all in one pass. Prompts pass through both.
#pragma once

#include <cstdint>
#include <memory>

#include "model/serving/step_timer.hpp"

namespace foretell {

class DraftedStepTimer : public StepTimer {
 public:
  // `drafts`: tokens that are guessed in each step, at least one. Neither has stages.
  DraftedStepTimer(std::unique_ptr<StepTimer> target, std::unique_ptr<StepTimer> draft,
                   std::int64_t drafts);

  StepTime time(const StepShape& shape, int stage) override;
  std::int64_t executed() const override { return target_->executed() + draft_->executed(); }

 private:
  std::unique_ptr<StepTimer> target_;
  std::unique_ptr<StepTimer> draft_;
  std::int64_t drafts_;
};

}  // namespace foretell
