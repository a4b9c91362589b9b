// Two-batch overlap: a step in two halves, of which one computes while the other exchanges tokens
// with the experts (SGLang, DeepSeek).
#pragma once

#include <vector>

#include "model/serving/step_timer.hpp"

namespace foretell {

// A step with decodes alone in halves of its sequences, one with prompts in halves of its tokens,
// of which one prompt may be cut; empty when it cannot be halved. Together they have the tokens,
// the KV rows and the finished prompts of the step.
std::vector<StepShape> halves_of(const StepShape& step);

// Both halves consist of `pieces` pieces (layers with an exchange) of equal length. Computing and
// exchanging take turns: one half computes a piece while the other exchanges the piece before. The
// sum is no shorter than the computing of both and the exchange of both, and no longer than one
// half after the other.
StepTime two_batch_time(const StepTime& first, const StepTime& second, int pieces);

}  // namespace foretell
