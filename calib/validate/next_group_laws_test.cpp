#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "calib/validate/next_group.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Groups whose middles and rows are drawn from normal laws.
std::vector<GroupSample> drawn(int groups, int rows, double between, double within, unsigned seed,
                               double per_octave = 0) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<GroupSample> samples;
  for (int group = 0; group < groups; ++group) {
    const double middle = between * normal(generator);
    for (int row = 0; row < rows; ++row) {
      // A fifth of the rows stand octaves away from all others.
      const double octaves = row % 5 == 4 ? 2.0 + group : 0;
      const double scale = 1 + per_octave * octaves;
      const double error = scale * (middle + within * normal(generator));
      samples.push_back({"g" + std::to_string(group), {std::exp2(octaves)}, std::exp(error)});
    }
  }
  return samples;
}

// For the first class; the others have its spread.
Interval interval_of(const std::vector<GroupSample>& first,
                     const std::vector<std::vector<GroupSample>>& others = {}) {
  std::vector<std::vector<GroupSample>> classes = {first};
  classes.insert(classes.end(), others.begin(), others.end());
  return next_groups(classes).front().interval;
}

TEST(NextGroup, IntervalsOfFewGroupsHoldFourFifthsOfTheNextOne) {
  constexpr int kRounds = 400;
  double inside = 0;
  for (unsigned round = 0; round < kRounds; ++round) {
    std::vector<GroupSample> all = drawn(5, 20, 0.08, 0.04, round);
    std::vector<GroupSample> known;
    std::vector<GroupSample> next;
    for (const GroupSample& one : all) (one.group == "g4" ? next : known).push_back(one);
    std::vector<std::vector<GroupSample>> others;
    for (unsigned i = 1; i < 4; ++i)
      others.push_back(drawn(4, 20, 0.08, 0.04, i * kRounds + round));
    const Interval interval = interval_of(known, others);
    for (const GroupSample& one : next) {
      inside += one.ratio >= interval.low && one.ratio <= interval.high ? 1.0 / 20 : 0;
    }
  }
  EXPECT_GT(inside / kRounds, 0.75);
  EXPECT_LT(inside / kRounds, 0.88);
}

TEST(NextGroup, AClassOfFewGroupsLeansOnTheOthers) {
  const std::vector<GroupSample> narrow = drawn(2, 10, 0.01, 0.01, 3);
  const std::vector<GroupSample> wide = drawn(4, 10, 0.1, 0.05, 4);
  const double alone = interval_of(narrow).high;
  const double beside = interval_of(narrow, {wide, wide}).high;
  EXPECT_GT(beside, alone);
  EXPECT_LT(beside, interval_of(wide).high);
}

TEST(NextGroup, ManyRowsOfOneGroupCountAsOneGroup) {
  std::vector<GroupSample> few = drawn(3, 5, 0.1, 0, 7);
  std::vector<GroupSample> many = few;
  for (int i = 0; i < 50; ++i) many.push_back(few.front());
  EXPECT_NEAR(interval_of(few).high, interval_of(many).high, 1e-9);
}

TEST(NextGroup, MoreSpreadBetweenGroupsIsAWiderInterval) {
  double last = 1;
  for (const double between : {0.02, 0.05, 0.1, 0.2}) {
    const Interval next = interval_of(drawn(6, 10, between, 0.03, 3));
    EXPECT_GT(next.high, last);
    EXPECT_NEAR(next.low * next.high, 1, 1e-12);
    last = next.high;
  }
}

// Rows that a fit saw, all at one place, with what it says of them without them and all nearer
// ones.
std::vector<GroupSample> with_far(int groups, double per_octave, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> error(0, 0.05);
  std::vector<GroupSample> samples;
  for (int group = 0; group < groups; ++group) {
    for (int row = 0; row < 60; ++row) {
      GroupSample sample{"g" + std::to_string(group), {1}, std::exp(error(generator))};
      for (const double octaves : {1.0, 2.0, 4.0}) {
        const double of_far = (1 + per_octave * octaves) * error(generator);
        sample.far.push_back({octaves, std::log(sample.ratio) - of_far});
      }
      samples.push_back(sample);
    }
  }
  return samples;
}

std::vector<std::vector<GroupSample>> classes_with_far(double per_octave) {
  std::vector<std::vector<GroupSample>> classes;
  for (unsigned i = 0; i < 6; ++i) classes.push_back(with_far(4, per_octave, 200 + i));
  return classes;
}

// Intervals of few groups are wider than a normal distribution of known spread asks, and hold the
// first part of the growth by themselves.
TEST(NextGroup, WhatNearerRowsSayOfFarOnesTellsTheWidening) {
  double last = widening_per_octave(classes_with_far(0));
  EXPECT_EQ(last, 0);
  for (const double per_octave : {0.2, 0.4, 0.6}) {
    const double found = widening_per_octave(classes_with_far(per_octave));
    EXPECT_LE(found, per_octave);
    EXPECT_GT(found, 0.6 * per_octave);
    EXPECT_GT(found, last);
    last = found;
  }
}

TEST(NextGroup, WidenedIntervalsHoldFourFifthsOfFarRows) {
  const std::vector<std::vector<GroupSample>> classes = classes_with_far(0.5);
  const double per_octave = widening_per_octave(classes);
  for (const NextGroup& next : next_groups(classes, 0, per_octave)) {
    EXPECT_EQ(next.far_rows, 3U * 60 * 4);
    EXPECT_NEAR(next.far, 0.8, 0.05);  // all classes together: 0.8
    EXPECT_LT(next.far_as_near, next.far - 0.2);
  }
}

TEST(NextGroup, WithoutFarRowsNothingWidens) {
  EXPECT_EQ(widening_per_octave({drawn(3, 4, 0.05, 0.05, 5)}), 0);
}

// Groups of rows of releases, whose errors grow with age.
std::vector<GroupSample> aged(int groups, double per_release, unsigned seed) {
  std::vector<GroupSample> samples = drawn(groups, 60, 0.02, 0.05, seed);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i].releases = static_cast<double>(i % 10);
    samples[i].ratio = std::pow(samples[i].ratio, std::pow(1 + per_release, samples[i].releases));
  }
  return samples;
}

TEST(NextGroup, GrowthWithOlderReleasesIsFoundAndNoneWhereThereIsNone) {
  std::vector<std::vector<GroupSample>> flat;
  std::vector<std::vector<GroupSample>> growing;
  for (unsigned i = 0; i < 8; ++i) {
    flat.push_back(aged(4, 0, 70 + i));
    growing.push_back(aged(4, 0.1, 70 + i));
  }
  EXPECT_LE(widening_per_release(flat), 0.015);
  EXPECT_NEAR(widening_per_release(growing), 0.1, 0.015);
  // Rows of old releases then say the same of the newest as those of no age at all.
  EXPECT_NEAR(next_groups(growing, 0.1).front().interval.high,
              next_groups(flat).front().interval.high, 1e-9);
  EXPECT_GT(next_groups(growing).front().interval.high,
            next_groups(growing, 0.1).front().interval.high);
}

TEST(NextGroup, AnOlderReleaseIsWiderANewerOneNoNarrower) {
  const Interval newest{0.9, 1.1};
  EXPECT_DOUBLE_EQ(at_release(newest, 0.5, 0).high, 1.1);
  EXPECT_DOUBLE_EQ(at_release(newest, 1, 1).high, 1.1 * 1.1);
  EXPECT_DOUBLE_EQ(at_release(newest, 1, 2).low, std::pow(0.9, 4));
  EXPECT_DOUBLE_EQ(at_release(newest, 1, -3).high, 1.1);
}

TEST(NextGroup, ClassesOfOldReleasesCompareWithTheOthersAndKeepTheirWidth) {
  std::vector<GroupSample> fresh = drawn(4, 60, 0.02, 0.05, 9);
  std::vector<GroupSample> old = fresh;  // the same errors, grown by seven releases
  for (GroupSample& sample : old) {
    sample.releases = 7;
    sample.ratio = std::pow(sample.ratio, std::pow(1.1, 7));
  }
  const std::vector<NextGroup> next = next_groups({fresh, old}, 0.1);
  EXPECT_NEAR(std::log(next[1].interval.high), std::pow(1.1, 7) * std::log(next[0].interval.high),
              1e-9);
  EXPECT_NEAR(next[0].interval.high, next_groups({fresh}, 0.1).front().interval.high, 1e-9);
}

// One number is fitted to the middles of G groups, with the mean as its estimate: what leaving one
// out says is off by s² (1 + 1 / (G - 1)), the next group by s² (1 + 1 / G).
TEST(NextGroup, TheNextGroupMeetsFactorsOfAllGroups) {
  constexpr double kSpread = 0.1;
  for (const std::size_t groups : {2U, 3U, 5U}) {
    const auto count = static_cast<double>(groups);
    double left_out = 0;
    double made = 0;
    constexpr unsigned kRounds = 4000;
    std::mt19937 generator(5);
    std::normal_distribution<double> normal(0, kSpread);
    for (unsigned round = 0; round < kRounds; ++round) {
      std::vector<double> middles;
      double sum = 0;
      for (std::size_t i = 0; i < groups; ++i) {
        middles.push_back(normal(generator));
        sum += middles.back();
      }
      std::vector<GroupSample> samples;
      for (std::size_t i = 0; i < groups; ++i) {
        const double of_all = sum / count;
        const double of_others = (sum - middles[i]) / (count - 1);
        samples.push_back(
            {std::to_string(i), {}, std::exp(middles[i] - of_others), of_others - of_all});
        left_out += std::pow(middles[i] - of_others, 2) / count / kRounds;
      }
      made += std::pow(next_groups({samples}).front().between, 2) / kRounds;
    }
    EXPECT_NEAR(left_out / (kSpread * kSpread), 1 + 1.0 / (count - 1), 0.1);
    EXPECT_NEAR(made / (kSpread * kSpread), 1 + 1.0 / count, 0.08);
  }
}

TEST(NextGroup, FarFromWhatWasJudgedIntervalsWiden) {
  EXPECT_DOUBLE_EQ(octaves_to({128, 12, 1}, {{128, 12, 1}, {1, 1, 1}}), 0);
  EXPECT_DOUBLE_EQ(octaves_to({512, 12, 1}, {{128, 12, 1}}), 2);
  EXPECT_DOUBLE_EQ(octaves_to({1024, 24, 16}, {{128, 12, 1}}), std::sqrt(9 + 1 + 16));
  EXPECT_EQ(octaves_to({1}, {}), 0);
  const Interval near{0.9, 1.1};
  EXPECT_DOUBLE_EQ(at_distance(near, 0.5, 0, 0).high, 1.1);
  EXPECT_DOUBLE_EQ(at_distance(near, 0.5, 0, 2).high, 1.1 * 1.1);
  EXPECT_DOUBLE_EQ(at_distance(near, 0.5, 0, 2).low, 0.9 * 0.9);
  // The groups that made it stood two octaves away.
  EXPECT_DOUBLE_EQ(at_distance(near, 0.5, 2, 0).high, 1.1);
  EXPECT_DOUBLE_EQ(at_distance(near, 0.5, 2, 2).high, 1.1);
  EXPECT_DOUBLE_EQ(at_distance(near, 0.5, 2, 6).high, 1.1 * 1.1);
}

TEST(NextGroup, OneGroupSaysNothingOfTheNext) {
  EXPECT_THROW(next_groups({{{"a", {1}, 1.1}, {"a", {1}, 0.9}}}), InternalError);
}

}  // namespace
}  // namespace foretell
