#include "model/timing/gpu/cta_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>

namespace foretell {
namespace {

constexpr double kFemto = 1e-15;

// One thread block at a time, each to the slot that is free first.
std::int64_t one_by_one(const std::vector<CtaRun>& runs, std::int64_t slots) {
  std::vector<std::int64_t> free_at(static_cast<std::size_t>(slots), 0);
  std::int64_t end = 0;
  for (const CtaRun& run : runs) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      auto first = std::min_element(free_at.begin(), free_at.end());
      *first += std::llround(run.duration.value() / kFemto);
      end = std::max(end, *first);
    }
  }
  return end;
}

std::int64_t grouped(const std::vector<CtaRun>& runs, std::int64_t slots) {
  CtaSchedule schedule(runs, slots);
  while (!schedule.all_issued()) schedule.step();
  return schedule.makespan();
}

TEST(CtaSchedule, EqualsPlacingOneThreadBlockAtATime) {
  std::mt19937 random(7);
  const auto up_to = [&](int most) { return static_cast<int>(random() % unsigned(most)) + 1; };
  for (int round = 0; round < 200; ++round) {
    std::vector<CtaRun> runs;
    const int kinds = up_to(40);
    for (int i = 0; i < kinds; ++i) {
      runs.push_back({up_to(300) - 1, Seconds(kFemto * 1e6 * up_to(9))});
    }
    const std::int64_t slots = up_to(148);
    EXPECT_EQ(grouped(runs, slots), one_by_one(runs, slots)) << "round " << round;
  }
}

TEST(CtaSchedule, CausalRampsEqualPlacingOneThreadBlockAtATime) {
  std::vector<CtaRun> ascending;
  for (int block = 1; block <= 64; ++block) ascending.push_back({24, Seconds(1e-6 * block)});
  std::vector<CtaRun> descending(ascending.rbegin(), ascending.rend());
  EXPECT_EQ(grouped(ascending, 132), one_by_one(ascending, 132));
  EXPECT_EQ(grouped(descending, 132), one_by_one(descending, 132));
  EXPECT_LT(grouped(descending, 132), grouped(ascending, 132));  // the longest first ends earlier
}

TEST(CtaSchedule, UniformThreadBlocksTakeWholeWavesInFewSteps) {
  const std::vector<CtaRun> runs = {{132 * 1000 + 1, Seconds(10e-6)}};
  CtaSchedule schedule(runs, 132);
  while (!schedule.all_issued()) schedule.step();
  EXPECT_EQ(schedule.makespan(), 1001LL * 10'000'000'000LL);
  EXPECT_EQ(schedule.busy(), (132LL * 1000 + 1) * 10'000'000'000LL);
  EXPECT_EQ(schedule.steps(), 2U);
}

TEST(CtaSchedule, WithoutThreadBlocksThereIsNoTime) {
  EXPECT_EQ(cta_makespan({}, 108), Seconds(0));
  EXPECT_EQ(cta_makespan({{0, Seconds(1)}}, 108), Seconds(0));
}

TEST(CtaSchedule, MoreSlotsAreNeverSlowerForUniformWork) {
  const std::vector<CtaRun> runs = {{500, Seconds(3e-6)}};
  Seconds before(1);
  for (int slots = 1; slots < 600; slots += 7) {
    const Seconds time = cta_makespan(runs, slots);
    EXPECT_LE(time, before);
    before = time;
  }
}

}  // namespace
}  // namespace foretell
