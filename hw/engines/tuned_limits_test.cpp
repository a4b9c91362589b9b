#include "hw/engines/tuned_limits.hpp"

#include <gtest/gtest.h>

#include "hw/spec/shared/catalog.hpp"

namespace foretell {
namespace {

TEST(TunedLimits, FollowFromMemoryAndLengths) {
  const TunedLimits limits = TunedLimits::load(hw_folder());
  // 1,000 requests of 2,048 tokens fit: rounded up to 128; a token of each and as many of prompts.
  const StepLimits even = limits.of(1000 * 2048 / limits.share, 1024, 1024, 1);
  EXPECT_EQ(even.sequences, 1024);
  EXPECT_EQ(even.tokens, 2048);
  const StepLimits prompts = limits.of(1000 * 2048 / limits.share, 1920, 128, 1);
  EXPECT_EQ(prompts.tokens, 16384);
}

TEST(TunedLimits, KeepWithinBounds) {
  const TunedLimits limits = TunedLimits::load(hw_folder());
  const StepLimits none = limits.of(-1, 1, 1, 1);
  EXPECT_EQ(none.sequences, limits.least_sequences);
  EXPECT_EQ(none.tokens, limits.least_tokens);
  const StepLimits all = limits.of(1e12, 1000, 1, 1);
  EXPECT_EQ(all.sequences, limits.most_sequences);
  EXPECT_EQ(all.tokens, limits.most_tokens);
}

}  // namespace
}  // namespace foretell
