// Two halves of a step that take turns: what is conserved, and between which bounds their time is.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "model/serving/two_batch.hpp"

namespace foretell {
namespace {

StepTime piece(double compute, double exchange) {
  StepTime time;
  time.total = Seconds(compute + exchange);
  time.exchange = Seconds(exchange);
  return time;
}

TEST(TwoBatchLaws, NeverFasterThanTheBusierResourceNorSlowerThanOneAfterTheOther) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> length(0, 1);
  for (int i = 0; i < 2000; ++i) {
    const StepTime first = piece(length(random), length(random));
    const StepTime second = piece(length(random), length(random));
    const double computing =
        (first.total - first.exchange + second.total - second.exchange).value();
    const double exchanging = (first.exchange + second.exchange).value();
    const int pieces = 1 + i % 61;
    const StepTime both = two_batch_time(first, second, pieces);
    EXPECT_GE(both.total.value(), std::max(computing, exchanging) - 1e-12);
    EXPECT_LE(both.total.value(), computing + exchanging + 1e-12);
    EXPECT_NEAR(both.total.value() - both.exchange.value(), computing, 1e-12);
  }
}

TEST(TwoBatchLaws, EqualHalvesInManyPiecesTakeAsLongAsTheBusierResource) {
  const StepTime bound = two_batch_time(piece(3, 2), piece(3, 2), 1000000);
  EXPECT_NEAR(bound.total.value(), 6, 1e-5);
  EXPECT_NEAR(two_batch_time(piece(1, 2), piece(1, 2), 1000000).total.value(), 4, 1e-5);
  // One piece: only the second half computes beside the exchange of the first.
  EXPECT_NEAR(two_batch_time(piece(3, 2), piece(3, 2), 1).total.value(), 8, 1e-12);
  EXPECT_NEAR(two_batch_time(piece(3, 0), piece(4, 0), 61).total.value(), 7, 1e-12);
}

TEST(TwoBatchLaws, HalvesHaveTheTokensOfTheStep) {
  std::mt19937 random(11);
  std::uniform_int_distribution<std::int64_t> any(0, 40);
  for (int i = 0; i < 2000; ++i) {
    StepShape step;
    step.decodes = any(random);
    step.tokens_each = 1 + i % 3;
    step.decode_positions = step.decodes * (1 + 100 * any(random));
    for (std::int64_t chunks = any(random) % 4; chunks > 0; --chunks) {
      step.chunks.push_back({1 + any(random), 10 * any(random)});
      if (chunks % 2 == 0) ++step.finished_prompts;
    }
    step.padded_tokens = step.tokens() + any(random);
    const std::vector<StepShape> halves = halves_of(step);
    if (halves.empty()) {
      EXPECT_LE(step.decodes + static_cast<std::int64_t>(step.chunks.size()), 1 + step.tokens());
      continue;
    }
    ASSERT_EQ(halves.size(), 2U);
    EXPECT_EQ(halves[0].tokens() + halves[1].tokens(), step.tokens());
    EXPECT_EQ(halves[0].decodes + halves[1].decodes, step.decodes);
    EXPECT_EQ(halves[0].decode_positions + halves[1].decode_positions, step.decode_positions);
    EXPECT_EQ(halves[0].finished_prompts + halves[1].finished_prompts, step.finished_prompts);
    for (const StepShape& half : halves) EXPECT_GE(half.padded_tokens, half.tokens());
  }
  StepShape one;
  one.decodes = 1;
  EXPECT_TRUE(halves_of(one).empty());
}

}  // namespace
}  // namespace foretell
