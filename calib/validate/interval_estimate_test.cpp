#include "calib/validate/interval_estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

// `count` ratios, evenly spread from `low` to `high`.
void spread(std::vector<RatioSample>& samples, const std::string& network, int count, double low,
            double high) {
  for (int i = 0; i < count; ++i) {
    samples.push_back({network, low + (high - low) * i / (count - 1)});
  }
}

TEST(IntervalEstimate, HoldsEightyPercentOfTheRowsThatMadeIt) {
  std::vector<RatioSample> samples;
  spread(samples, "a", 1001, 0.8, 1.3);
  const Interval interval = estimate_interval80(samples);
  EXPECT_NEAR(interval.low, 0.85, 1e-3);
  EXPECT_NEAR(interval.high, 1.25, 1e-3);
  EXPECT_NEAR(coverage_of(samples, interval), 0.8, 2e-3);
}

TEST(IntervalEstimate, NetworksCountTheSameHoweverManyRowsTheyHave) {
  std::vector<RatioSample> few;
  spread(few, "a", 100, 0.9, 1.0);
  spread(few, "b", 100, 1.0, 1.2);
  std::vector<RatioSample> many;
  spread(many, "a", 10000, 0.9, 1.0);
  spread(many, "b", 100, 1.0, 1.2);
  EXPECT_NEAR(estimate_interval80(many).low, estimate_interval80(few).low, 2e-3);
  EXPECT_NEAR(estimate_interval80(many).high, estimate_interval80(few).high, 2e-3);
}

// A prediction that is always too low still has its own value in the interval.
TEST(IntervalEstimate, HoldsThePredictionItself) {
  const Interval interval = estimate_interval80({{"a", 1.1}, {"a", 1.2}});
  EXPECT_EQ(interval.low, 1);
  EXPECT_GT(interval.high, 1.1);
}

TEST(IntervalEstimate, OneSampleIsItsOwnInterval) {
  EXPECT_EQ(estimate_interval80({{"a", 1.5}}).high, 1.5);
  EXPECT_EQ(estimate_interval80({{"a", 0.5}}).low, 0.5);
}

// Each of five families lies around a middle of its own: of a new one less than 80 % would lie in
// the interval of these rows.
TEST(WidenedInterval, HoldsOnFamiliesThatDidNotMakeIt) {
  std::vector<RatioSample> samples;
  for (int family = 0; family < 5; ++family) {
    const double middle = 0.9 + 0.05 * family;
    spread(samples, std::to_string(family), 20, middle - 0.005, middle + 0.005);
  }
  const Interval narrow = estimate_interval80(samples);
  const Interval wide = widened_interval80(samples);
  EXPECT_LT(wide.low, narrow.low);
  EXPECT_GT(wide.high, narrow.high);
  EXPECT_LT(leave_one_out_coverage(samples), 0.8);
  EXPECT_GE(coverage_of(samples, wide), 0.8);
  // Both sides by the same factor.
  EXPECT_NEAR(narrow.low / wide.low, wide.high / narrow.high, 1e-9);
  // Of whole networks by the same power.
  const Interval power = widen_interval80(samples).interval;
  EXPECT_LT(power.low, narrow.low);
  EXPECT_NEAR(std::log(power.low) / std::log(narrow.low),
              std::log(power.high) / std::log(narrow.high), 1e-9);
}

// Three families are slower than predicted and one is faster, which the others' end at 1 does not
// hold, whatever its power.
TEST(WidenedInterval, MovesAnEndAtOne) {
  std::vector<RatioSample> samples;
  for (const double middle : {0.97, 1.2, 1.3, 1.4}) {
    spread(samples, std::to_string(middle), 20, middle - 0.005, middle + 0.005);
  }
  const Interval narrow = estimate_interval80(samples);
  const Interval wide = widened_interval80(samples);
  EXPECT_LT(wide.low, narrow.low);
  EXPECT_GT(wide.high, narrow.high);
  EXPECT_LT(wide.high, 1.6);
  EXPECT_EQ(widen_interval80(samples).interval.high, narrow.high);
}

TEST(WidenedInterval, StaysAsItIsWhereFamiliesAreAlike) {
  std::vector<RatioSample> samples;
  for (const char* family : {"a", "b", "c", "d"}) spread(samples, family, 501, 0.8, 1.3);
  EXPECT_NEAR(widened_interval80(samples).low, estimate_interval80(samples).low, 2e-2);
  const std::vector<RatioSample> one = {{"a", 0.9}, {"a", 1.1}};
  EXPECT_EQ(widened_interval80(one).high, estimate_interval80(one).high);
}

// Bounds count as inside.
TEST(Coverage, BothEndsBelong) {
  const std::vector<RatioSample> samples = {{"a", 0.9}, {"a", 1.1}, {"a", 1.11}, {"a", 0.89}};
  EXPECT_DOUBLE_EQ(coverage_of(samples, {0.9, 1.1}), 0.5);
}

TEST(Coverage, ANetworkIsJudgedByTheOthersAlone) {
  std::vector<RatioSample> samples;
  spread(samples, "near", 100, 0.99, 1.01);
  spread(samples, "far", 100, 1.49, 1.51);
  // Together they hold most of both; neither holds the other. What "near" makes of "far" is 0,
  // what "far" makes of "near" is its upper half, because an interval holds 1.
  EXPECT_GT(coverage_of(samples, estimate_interval80(samples)), 0.75);
  EXPECT_NEAR(leave_one_out_coverage(samples), 0.25, 0.01);
}

TEST(Coverage, OfNetworksThatAreAlikeIsEightyPercent) {
  std::vector<RatioSample> samples;
  for (const char* network : {"a", "b", "c"}) spread(samples, network, 500, 0.85, 1.15);
  EXPECT_NEAR(leave_one_out_coverage(samples), 0.8, 0.01);
}

TEST(Coverage, NeedsAGroupToLeaveOut) {
  EXPECT_THROW(leave_one_out_coverage({{"a", 1}, {"a", 1.1}}), InternalError);
  EXPECT_THROW(estimate_interval80({}), InternalError);
}

}  // namespace
}  // namespace foretell
