#include "model/timing/gpu/fluid_share.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <random>

namespace foretell {
namespace {

constexpr double kClose = 1e-9;

GridDemand random_demand(std::mt19937& random) {
  std::uniform_real_distribution<double> share(0, 1);
  GridDemand demand{};
  for (double& of : demand) of = share(random) < 0.4 ? 0 : share(random);
  return demand;
}

TEST(FluidShare, WhoIsAloneRunsAtFullSpeed) {
  EXPECT_EQ(fair_speeds({{1, 1, 1, 1, 1, 1}}), std::vector<double>{1});
  EXPECT_EQ(fair_speeds({{}, {}}), (std::vector<double>{1, 1}));
  EXPECT_TRUE(fair_speeds({}).empty());
}

TEST(FluidShare, TheOneThatAsksForLittleIsNotSlowed) {
  // One third is asked for by two others, who share what is left of the first resource.
  const std::vector<double> speeds =
      fair_speeds({{1, 0, 0, 0, 0, 0}, {1, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 0.9}});
  EXPECT_NEAR(speeds[0], 0.5, kClose);
  EXPECT_NEAR(speeds[1], 0.5, kClose);
  EXPECT_NEAR(speeds[2], 1, kClose);
}

TEST(FluidShare, SpeedsRiseEvenlyUntilAResourceIsTakenUp) {
  // DRAM stops the first two at 0.5; the third goes on until the SMs are full.
  const std::vector<double> speeds =
      fair_speeds({{0.4, 0, 0, 0, 0, 1}, {0.4, 0, 0, 0, 0, 1}, {1, 0, 0, 0, 0, 0}});
  EXPECT_NEAR(speeds[0], 0.5, kClose);
  EXPECT_NEAR(speeds[1], 0.5, kClose);
  EXPECT_NEAR(speeds[2], 0.6, kClose);
}

TEST(FluidShare, SpeedsSumUpToOneAndNoResourceServesMoreThanItHas) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::vector<GridDemand> demands(1 + random() % 6);
    for (GridDemand& demand : demands) demand = random_demand(random);
    const std::vector<double> speeds = fair_speeds(demands);
    EXPECT_GE(std::accumulate(speeds.begin(), speeds.end(), 0.0), 1 - kClose);
    for (std::size_t r = 0; r < kGridResources; ++r) {
      double load = 0;
      for (std::size_t g = 0; g < demands.size(); ++g) {
        ASSERT_GT(speeds[g], 0);
        ASSERT_LE(speeds[g], 1);
        load += speeds[g] * demands[g][r];
      }
      EXPECT_LE(load, 1 + kClose) << to_string(static_cast<GridResource>(r));
    }
  }
}

TEST(FluidShare, WhoIsSlowedNeedsAResourceThatIsTakenUp) {
  std::mt19937 random(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<GridDemand> demands(2 + random() % 4);
    for (GridDemand& demand : demands) demand = random_demand(random);
    const std::vector<double> speeds = fair_speeds(demands);
    GridDemand load{};
    for (std::size_t g = 0; g < demands.size(); ++g) {
      for (std::size_t r = 0; r < kGridResources; ++r) load[r] += speeds[g] * demands[g][r];
    }
    for (std::size_t g = 0; g < demands.size(); ++g) {
      if (speeds[g] >= 1 - kClose) continue;
      bool taken_up = false;
      for (std::size_t r = 0; r < kGridResources; ++r) {
        taken_up = taken_up || (demands[g][r] > 0 && load[r] >= 1 - kClose);
      }
      EXPECT_TRUE(taken_up);
    }
  }
}

}  // namespace
}  // namespace foretell
