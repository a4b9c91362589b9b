// A step with guesses is what its parts take, one after the other.
#include "model/app/serving/steps/drafted_step_timer.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

namespace foretell {
namespace {

// Takes a time for each token of a step, and keeps the shapes that it was asked for.
class PerToken : public StepTimer {
 public:
  PerToken(Seconds of_token, std::vector<StepShape>& asked) : of_token_(of_token), asked_(asked) {}
  StepTime time(const StepShape& shape, int /*stage*/) override {
    asked_.push_back(shape);
    StepTime time;
    time.total = of_token_ * static_cast<double>(shape.tokens());
    time.launches = 1;
    time.energy = Joules(2);
    return time;
  }
  std::int64_t executed() const override { return static_cast<std::int64_t>(asked_.size()); }

 private:
  Seconds of_token_;
  std::vector<StepShape>& asked_;
};

struct Drafted {
  std::vector<StepShape> of_target;
  std::vector<StepShape> of_draft;
  DraftedStepTimer timer;

  explicit Drafted(std::int64_t drafts)
      : timer(std::make_unique<PerToken>(Seconds(1), of_target),
              std::make_unique<PerToken>(Seconds(0.1), of_draft), drafts) {}
};

StepShape decodes_of(std::int64_t sequences, std::int64_t drafts) {
  StepShape shape;
  shape.decodes = sequences;
  shape.tokens_each = 1 + drafts;
  shape.decode_positions = 100 * sequences;
  shape.padded_tokens = shape.tokens();
  return shape;
}

TEST(DraftedStepTimer, AStepIsOnePassOfTheTargetAndOneOfTheDraftForEachGuess) {
  Drafted drafted(3);
  const StepTime time = drafted.timer.time(decodes_of(2, 3), 0);
  EXPECT_DOUBLE_EQ(time.total.value(), 2 * 4 * 1 + 3 * 2 * 0.1);
  EXPECT_DOUBLE_EQ(time.launches, 1 + 3);
  EXPECT_DOUBLE_EQ(time.energy.value(), 2 * (1 + 3));
  ASSERT_EQ(drafted.of_draft.size(), 1);  // guesses are alike: asked once
  EXPECT_EQ(drafted.of_draft.front().tokens_each, 1);
  EXPECT_EQ(drafted.of_draft.front().decode_positions, 200);
  EXPECT_EQ(drafted.of_draft.front().padded_tokens, 2);
  EXPECT_EQ(drafted.timer.executed(), 2);
}

TEST(DraftedStepTimer, PromptsPassThroughBothOnce) {
  Drafted drafted(5);
  StepShape shape;
  shape.chunks = {{10, 0}, {20, 7}};
  shape.finished_prompts = 1;
  shape.padded_tokens = 30;
  EXPECT_DOUBLE_EQ(drafted.timer.time(shape, 0).total.value(), 30 * 1 + 30 * 0.1);
  ASSERT_EQ(drafted.of_draft.size(), 1);
  EXPECT_EQ(drafted.of_draft.front().decodes, 0);
  EXPECT_EQ(drafted.of_draft.front().chunks.back().context, 7);
}

TEST(DraftedStepTimer, AGraphOfMoreSequencesPadsTheDraftAlike) {
  Drafted drafted(3);
  StepShape shape = decodes_of(3, 3);
  shape.padded_tokens = 16;  // four sequences
  drafted.timer.time(shape, 0);
  EXPECT_EQ(drafted.of_draft.front().padded_tokens, 4);
}

TEST(DraftedStepTimer, EachGuessMoreTakesLonger) {
  double before = 0;
  for (std::int64_t drafts = 1; drafts <= 8; ++drafts) {
    const double time = Drafted(drafts).timer.time(decodes_of(4, drafts), 0).total.value();
    EXPECT_GT(time, before);
    before = time;
  }
}

}  // namespace
}  // namespace foretell
