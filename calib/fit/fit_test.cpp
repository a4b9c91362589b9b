// Fits of problems whose answers are known.
#include "calib/fit/fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "calib/fit/random.hpp"
#include "calib/fit/testing/rate_problem.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

FitOptions quick() {
  FitOptions options;
  options.starts = 3;
  options.resamples = 200;
  return options;
}

void expect_inside(const FactorEstimate& estimate, double truth) {
  EXPECT_LE(estimate.low80, truth) << estimate.factor.name;
  EXPECT_GE(estimate.high80, truth) << estimate.factor.name;
}

TEST(Fit, FindsTheTruth) {
  const FitResult result = fit(rate_problem(1.7, 0.6), quick());
  EXPECT_TRUE(result.factors[0].identified);
  EXPECT_TRUE(result.factors[1].identified);
  EXPECT_NEAR(result.factors[0].value, 1.7, 0.02);  // the prior pulls a little
  EXPECT_NEAR(result.factors[1].value, 0.6, 0.02);
  for (const double residual : result.log_residuals) EXPECT_LT(std::abs(residual), 0.02);
}

TEST(Fit, IntervalsHoldTheTruthAndTellNoiseFromNone) {
  const auto width = [](const FactorEstimate& estimate) {
    return estimate.high80 - estimate.low80;
  };
  FitProblem noisy = rate_problem(1.7, 0.6);
  Random random(7);
  for (Observation& observation : noisy.observations) {
    observation.measured *= std::exp(0.05 * random.normal());
  }
  const FitResult clean = fit(rate_problem(1.7, 0.6), quick());
  const FitResult rough = fit(noisy, quick());
  expect_inside(rough.factors[0], 1.7);
  expect_inside(rough.factors[1], 0.6);
  EXPECT_GT(width(rough.factors[0]), width(clean.factors[0]));
}

TEST(Fit, OneRowThatNoModelExplainsHardlyMatters) {
  FitProblem problem = rate_problem(1.7, 0.6);
  problem.observations[4].measured *= 3;
  const FitResult result = fit(problem, quick());
  EXPECT_NEAR(result.factors[0].value, 1.7, 0.1);
  EXPECT_NEAR(result.factors[1].value, 0.6, 0.1);
}

TEST(Fit, EveryStartEndsAtTheSamePlace) {
  const FitResult result = fit(rate_problem(0.4, 3), quick());
  ASSERT_EQ(result.losses.size(), 3U);
  EXPECT_NEAR(result.losses.back(), result.losses.front(), 0.05);
}

TEST(Fit, TheSameTwice) {
  const FitResult first = fit(rate_problem(1.7, 0.6), quick());
  const FitResult second = fit(rate_problem(1.7, 0.6), quick());
  for (std::size_t j = 0; j < first.factors.size(); ++j) {
    EXPECT_EQ(first.factors[j].value, second.factors[j].value);
    EXPECT_EQ(first.factors[j].low80, second.factors[j].low80);
  }
}

TEST(Fit, AFactorWithoutEffectKeepsItsPrior) {
  FitProblem problem = rate_problem(1.7, 0.6);
  problem.factors.push_back(free_factor("idle", 5, 1, 0, 10));
  const FitResult result = fit(problem, quick());
  const FactorEstimate& idle = result.factors[2];
  EXPECT_FALSE(idle.identified);
  EXPECT_EQ(idle.value, 5);
  EXPECT_NEAR(idle.narrowed, 1, 0.1);
  EXPECT_NEAR(idle.high80 - idle.low80, 2 * 1.2816, 1e-6);
  EXPECT_NEAR(result.factors[0].value, 1.7, 0.02);
}

// Only the product of two factors is visible: one of them has to go, and the other then carries
// all of it.
TEST(Fit, OfTwoFactorsWithOneEffectAtMostOneIsIdentified) {
  FitProblem problem = rate_problem(1.7, 0.6);
  const Forecast plain = problem.forecast;
  problem.factors.push_back(free_factor("efficiency", 1, 0.8, 0.1, 4));
  problem.forecast = [plain](const std::vector<double>& values) {
    return plain({values[0] * values[2], values[1]});
  };
  const FitResult result = fit(problem, quick());
  const bool both = result.factors[0].identified && result.factors[2].identified;
  EXPECT_TRUE(!both || !result.correlations.empty());
  EXPECT_NEAR(result.factors[0].value * result.factors[2].value, 1.7, 0.05);
}

TEST(Fit, NamesFactorsThatTradeOff) {
  FitProblem problem = rate_problem(1.7, 0.6);
  // Work of one size only: its time is one number, and two factors share it.
  problem.forecast = [](const std::vector<double>& values) {
    return std::vector<double>(10, 8 / values[0] + values[1]);
  };
  for (Observation& observation : problem.observations) observation.measured = 6;
  problem.factors[0].width = 2;
  const FitResult result = fit(problem, quick());
  const bool both = result.factors[0].identified && result.factors[1].identified;
  if (both) {
    ASSERT_EQ(result.correlations.size(), 1U);
    EXPECT_GT(result.correlations[0].value, kStrongCorrelation);
  }
  EXPECT_NEAR(8 / result.factors[0].value + result.factors[1].value, 6, 0.3);
}

TEST(Fit, StaysInsideTheLimits) {
  const FitResult result = fit(rate_problem(50, 0.6), quick());
  EXPECT_EQ(result.factors[0].value, 4);
  EXPECT_LE(result.factors[0].high80, 4);
}

TEST(Fit, WhatTheForecastThrowsComesThrough) {
  FitProblem problem = rate_problem(1.7, 0.6);
  int calls = 0;
  problem.forecast = [&calls](const std::vector<double>& values) -> std::vector<double> {
    if (++calls > 20) throw UserError("the machine is gone");
    return rate_times({1, 2, 4, 8, 16, 1, 3, 9, 27, 50}, values[0], values[1]);
  };
  EXPECT_THROW(fit(problem, quick()), UserError);
}

TEST(Fit, ProgressGrowsAndStaysBelowOne) {
  FitOptions options = quick();
  std::vector<double> shares;
  options.progress = [&shares](double share) { shares.push_back(share); };
  const FitResult result = fit(rate_problem(1.7, 0.6), options);
  EXPECT_EQ(shares.size(), static_cast<std::size_t>(result.forecasts));
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_LE(shares.back(), 1);
}

}  // namespace
}  // namespace foretell
