#include "model/timing/cpu/cpu_interval.hpp"

#include <gmock/gmock.h>

#include <cmath>

namespace foretell {
namespace {

using testing::DoubleNear;
using testing::Pair;

CpuIntervals intervals(double correlation) {
  return {{{"a", {std::exp(-0.1), std::exp(0.2)}}, {"b", {std::exp(-0.3), std::exp(0.4)}}},
          correlation};
}

TEST(CpuInterval, OneOperatorHasTheIntervalOfItsClass) {
  for (const double correlation : {0.0, 0.3, 1.0}) {
    const auto [low, high] = chain_interval80({{"x", "a", Seconds(2)}}, intervals(correlation));
    EXPECT_NEAR(std::log(low), -0.1, 1e-12);
    EXPECT_NEAR(std::log(high), 0.2, 1e-12);
  }
}

TEST(CpuInterval, EqualErrorsAddUpAndIndependentOnesAsSquares) {
  const std::vector<CpuTimePart> parts = {{"x", "a", Seconds(1)}, {"y", "a", Seconds(1)}};
  EXPECT_NEAR(std::log(chain_interval80(parts, intervals(1)).second), 0.2, 1e-12);
  EXPECT_NEAR(std::log(chain_interval80(parts, intervals(0)).second), 0.2 / std::sqrt(2), 1e-12);
}

TEST(CpuInterval, PartsOfOneNameHaveTheSameError) {
  const std::vector<CpuTimePart> parts = {{"x", "a", Seconds(1)}, {"x", "a", Seconds(3)}};
  EXPECT_NEAR(std::log(chain_interval80(parts, intervals(0)).second), 0.2, 1e-12);
}

TEST(CpuInterval, ThePartThatTakesLongestCountsMost) {
  const auto high = [](double a, double b) {
    return chain_interval80({{"x", "a", Seconds(a)}, {"y", "b", Seconds(b)}}, intervals(0.5))
        .second;
  };
  EXPECT_LT(high(9, 1), high(5, 5));
  EXPECT_LT(high(5, 5), high(1, 9));
}

TEST(CpuInterval, AnUnknownClassIsAsUncertainAsTheWorst) {
  const auto [low, high] = chain_interval80({{"x", "c", Seconds(1)}}, intervals(1));
  EXPECT_NEAR(std::log(low), -0.3, 1e-12);
  EXPECT_NEAR(std::log(high), 0.4, 1e-12);
}

TEST(CpuInterval, NothingKnownIsNoInterval) {
  EXPECT_THAT(chain_interval80({{"x", "a", Seconds(1)}}, {}),
              Pair(DoubleNear(1, 1e-12), DoubleNear(1, 1e-12)));
  EXPECT_THAT(chain_interval80({}, intervals(1)), Pair(1.0, 1.0));
}

}  // namespace
}  // namespace foretell
