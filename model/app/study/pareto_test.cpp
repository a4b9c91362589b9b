#include "model/app/study/pareto.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace foretell {
namespace {

using testing::ElementsAre;

using Points = std::vector<std::vector<double>>;

TEST(Pareto, KeepsWhatNothingBeats) {
  const Points points = {{1, 1}, {2, 3}, {3, 2}, {2, 0.5}, {3, 4}};
  // Little of the first, much of the second.
  EXPECT_THAT(pareto_front(points, {false, true}), ElementsAre(0, 1, 4));
  EXPECT_THAT(pareto_front({{2, 2}, {2, 2}, {1, 3}}, {false, false}), ElementsAre(0, 2));
  EXPECT_THAT(pareto_front({}, {false}), ElementsAre());
  EXPECT_THAT(pareto_front({{3}, {1}, {2}}, {false}), ElementsAre(1));
}

TEST(Pareto, WhatDiffersByNoiseIsNoPointOfItsOwn) {
  // 0.05 % better in one, 5 % worse in the other; then alike within noise; then a real trade.
  EXPECT_THAT(distinct_front({{1, 100}, {0.9995, 105}}, {false, false}), ElementsAre(0));
  EXPECT_EQ(distinct_front({{1, 100}, {0.9995, 100.05}}, {false, false}).size(), 1U);
  EXPECT_THAT(distinct_front({{1, 100}, {0.99, 105}}, {false, false}), ElementsAre(0, 1));
  EXPECT_THAT(distinct_front({{1, 100}, {1.0005, 95}}, {false, true}), ElementsAre(0));
  EXPECT_THAT(distinct_front({}, {false}), ElementsAre());
  // A chain of small steps never loses everything.
  Points chain;
  for (int i = 0; i < 100; ++i) chain.push_back({1 + 5e-4 * i, 1 - 5e-4 * i});
  const std::vector<std::size_t> kept = distinct_front(chain, {false, false});
  EXPECT_GT(kept.size(), 10U);
  EXPECT_LT(kept.size(), 60U);
  // … and loses less than the noise in any objective.
  EXPECT_LE(chain[kept.front()][0], chain.front()[0] * (1 + kNoise));
  EXPECT_LE(chain[kept.back()][1], chain.back()[1] * (1 + kNoise));
}

// By definition: compare every pair.
std::vector<std::size_t> slow_front(const Points& points) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    bool beaten = false;
    for (std::size_t j = 0; j < points.size() && !beaten; ++j) {
      bool no_worse = true;
      bool better = false;
      for (std::size_t d = 0; d < points[i].size(); ++d) {
        no_worse = no_worse && points[j][d] <= points[i][d];
        better = better || points[j][d] < points[i][d];
      }
      beaten = no_worse && (better || j < i);
    }
    if (!beaten) front.push_back(i);
  }
  return front;
}

TEST(Pareto, AgreesWithItsDefinitionOnRandomPoints) {
  std::mt19937 random(5);
  for (const std::size_t dimensions : {2U, 3U}) {
    Points points(200, std::vector<double>(dimensions));
    for (auto& point : points) {
      for (double& value : point) value = static_cast<double>(random() % 20);
    }
    EXPECT_EQ(pareto_front(points, std::vector<bool>(dimensions, false)), slow_front(points));
  }
}

}  // namespace
}  // namespace foretell
