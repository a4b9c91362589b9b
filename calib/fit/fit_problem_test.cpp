#include "calib/fit/fit_problem.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "calib/fit/testing/rate_problem.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(FitWeights, NetworksThenConfigurationsThenRows) {
  const std::vector<double> weights =
      weights_of({{"a", "a1", 1}, {"a", "a1", 1}, {"a", "a2", 1}, {"b", "b1", 1}});
  // 3 configurations, 1.5 per network; a: 0.75 per configuration, half of it per row of a1.
  EXPECT_THAT(weights, ElementsAre(0.375, 0.375, 0.75, 1.5));
  EXPECT_DOUBLE_EQ(std::accumulate(weights.begin(), weights.end(), 0.0), 3);
}

TEST(FitWeights, RepetitionsOfOneConfigurationAreNoMoreEvidence) {
  const std::vector<double> once = weights_of({{"a", "a1", 1}, {"a", "a2", 1}});
  const std::vector<double> often =
      weights_of({{"a", "a1", 1}, {"a", "a2", 1}, {"a", "a2", 1}, {"a", "a2", 1}});
  EXPECT_DOUBLE_EQ(often[0], once[0]);
  EXPECT_DOUBLE_EQ(often[1] + often[2] + often[3], once[1]);
}

TEST(FitLoss, IsSquareNearZeroAndLinearFarOut) {
  const double noise = 0.05;
  EXPECT_NEAR(data_loss({0.001}, {1}, noise), 0.5 * 0.02 * 0.02, 1e-7);
  const double far = data_loss({5}, {1}, noise);
  EXPECT_NEAR(data_loss({10}, {1}, noise) - far, far + 1, 0.1);
  EXPECT_DOUBLE_EQ(data_loss({0.1}, {2}, noise), 2 * data_loss({-0.1}, {1}, noise));
}

TEST(FitLoss, OneWidthFromThePriorCostsHalf) {
  EXPECT_DOUBLE_EQ(belief_loss({1, 0}), 0.5);
  EXPECT_DOUBLE_EQ(belief_loss({3, -1}), 5);
}

TEST(FitProblem, ResidualsAreZeroAtTheTruth) {
  const FitProblem problem = rate_problem(1.5, 0.8);
  for (const double residual : log_residuals(problem, {1, 0.4})) EXPECT_NEAR(residual, 0, 1e-12);
  EXPECT_THAT(box_of(problem).low, ElementsAre(-1.8, 0));
  EXPECT_THAT(values_at(problem, box_of(problem).high), ElementsAre(4, 20));
}

TEST(FitProblem, RefusesTimesThatCannotBe) {
  for (const double wrong : {0.0, -3.0, std::nan("")}) {
    FitProblem problem = rate_problem(1, 1);
    problem.observations[3].measured = wrong;
    EXPECT_THAT([&] { check_problem(problem); },
                ThrowsMessage<UserError>(HasSubstr("first3: a measured time of")));
  }
}

TEST(FitProblem, NeedsAsManyConfigurationsAsFactors) {
  FitProblem problem = rate_problem(1, 1);
  problem.observations.resize(2);
  EXPECT_NO_THROW(check_problem(problem));
  problem.observations[1].configuration = problem.observations[0].configuration;
  EXPECT_THAT([&] { check_problem(problem); },
              ThrowsMessage<UserError>(HasSubstr("1 configurations cannot identify 2 factors")));
  problem.factors.clear();
  EXPECT_THROW(check_problem(problem), UserError);
}

TEST(FitProblem, AForecastThatIsNoTimeIsABug) {
  FitProblem problem = rate_problem(1, 1);
  problem.forecast = [](const std::vector<double>&) { return std::vector<double>(10, -1); };
  EXPECT_THROW(log_residuals(problem, {0, 0}), InternalError);
  problem.forecast = [](const std::vector<double>&) { return std::vector<double>(9, 1); };
  EXPECT_THROW(log_residuals(problem, {0, 0}), InternalError);
}

}  // namespace
}  // namespace foretell
