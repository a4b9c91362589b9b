#include "calib/measurements/samples.hpp"

#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

TEST(Samples, MedianAndSpread) {
  const SampleSummary summary = summarise({10, 11, 9, 10.5, 9.5, 100, 10, 10, 10, 10, 10});
  EXPECT_EQ(summary.median, 10);
  EXPECT_DOUBLE_EQ(summary.spread, (11 - 9.5) / 10);
  EXPECT_EQ(summary.repeats, 11);
}

TEST(Samples, OneSampleHasNoSpread) {
  const SampleSummary summary = summarise({3});
  EXPECT_EQ(summary.median, 3);
  EXPECT_EQ(summary.spread, 0);
}

TEST(Samples, QuantilesLieBetweenOrderStatistics) {
  const SampleSummary summary = summarise({2, 1});
  EXPECT_DOUBLE_EQ(summary.median, 1.5);
  EXPECT_DOUBLE_EQ(summary.spread, (1.9 - 1.1) / 1.5);
}

TEST(Samples, NothingAndTimesThatCannotBeAreOurMistake) {
  EXPECT_THROW(summarise({}), InternalError);
  EXPECT_THROW(summarise({1, 0}), InternalError);
  EXPECT_THROW(summarise({1, -2}), InternalError);
}

}  // namespace
}  // namespace foretell
