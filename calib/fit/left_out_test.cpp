#include "calib/fit/left_out.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

// measured = start + rate * work, with a rate that differs from group to group.
FitProblem two_groups(double rate_of_b) {
  FitProblem problem;
  problem.noise = 0.05;
  FreeFactor rate;
  rate.name = "rate";
  rate.prior = 1;
  rate.width = 0.5;
  rate.low = 0.1;
  rate.high = 10;
  problem.factors = {rate};
  for (int i = 0; i < 20; ++i) {
    const bool is_b = i % 2 == 1;
    const double work = 1.0 + i;
    problem.observations.push_back(
        {is_b ? "b" : "a", "c" + std::to_string(i), work * (is_b ? rate_of_b : 1.0)});
  }
  problem.forecast = [](const std::vector<double>& values) {
    std::vector<double> predicted;
    for (int i = 0; i < 20; ++i) predicted.push_back(values[0] * (1.0 + i));
    return predicted;
  };
  return problem;
}

std::vector<std::string> groups_of(const FitProblem& problem) {
  std::vector<std::string> groups;
  for (const Observation& one : problem.observations) groups.push_back(one.network);
  return groups;
}

TEST(LeftOut, AGroupThatBentTheFactorIsPredictedAsTheOthersSay) {
  const FitProblem problem = two_groups(1.2);
  constexpr double kBoth = 1.095;  // between 1 and 1.2
  const Point at = {(kBoth - 1) / 0.5};
  const std::vector<double> moved = moved_without_group(problem, at, groups_of(problem));
  EXPECT_NEAR(moved[1], -std::log(kBoth), 0.02);       // b by what a says: 1
  EXPECT_NEAR(moved[0], std::log(1.2 / kBoth), 0.02);  // a by what b says: 1.2
}

TEST(LeftOut, GroupsThatAgreeMoveNothing) {
  const FitProblem problem = two_groups(1.0);
  for (const double moved : moved_without_group(problem, {0}, groups_of(problem))) {
    EXPECT_NEAR(moved, 0, 1e-3);
  }
}

TEST(LeftOut, RowsBeyondOthersArePredictedByWhatTheNearerOnesSay) {
  FitProblem problem = two_groups(1.0);
  for (std::size_t i = 10; i < 20; ++i) problem.observations[i].measured *= 1.2;  // of much work
  const Point at = {(1.095 - 1) / 0.5};
  std::vector<bool> far(20, false);
  for (std::size_t i = 10; i < 20; ++i) far[i] = true;
  const std::vector<std::vector<double>> moved = moved_without(problem, at, {far});
  EXPECT_NEAR(moved[0][15], -std::log(1.095), 0.02);
  EXPECT_EQ(moved[0][5], 0);  // it stayed
}

TEST(LeftOut, FoldsHaveToFit) {
  const FitProblem problem = two_groups(1.2);
  EXPECT_TRUE(moved_without(problem, {0}, {}).empty());
  EXPECT_THROW(moved_without(problem, {0}, {{true}}), InternalError);
  EXPECT_THROW(moved_without(problem, {0}, {std::vector<bool>(20, true)}), InternalError);
}

TEST(LeftOut, OneGroupAloneStaysAsItIs) {
  const FitProblem problem = two_groups(1.2);
  const std::vector<std::string> one(problem.observations.size(), "a");
  for (const double moved : moved_without_group(problem, {0}, one)) EXPECT_EQ(moved, 0);
  EXPECT_THROW(moved_without_group(problem, {0}, {"a"}), InternalError);
}

}  // namespace
}  // namespace foretell
