#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>
#include <string>

#include "calib/validate/family_interval.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Families whose middles and rows are drawn from normal laws.
std::vector<RatioSample> drawn_families(int families, int rows, double between, double within,
                                        unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<RatioSample> samples;
  for (int family = 0; family < families; ++family) {
    const double middle = between * normal(generator);
    for (int row = 0; row < rows; ++row) {
      samples.push_back(
          {"f" + std::to_string(family), std::exp(middle + within * normal(generator))});
    }
  }
  return samples;
}

// Over many draws, the interval of few families holds about 80 % of a family it has not seen.
TEST(FamilyInterval, HoldsFourFifthsOfTheNextFamily) {
  for (const int families : {4, 6, 11}) {
    double inside = 0;
    constexpr int kRounds = 400;
    for (unsigned round = 0; round < kRounds; ++round) {
      const std::vector<RatioSample> all = drawn_families(families, 20, 0.15, 0.1, round);
      const FamilyInterval made = family_interval80(all);
      inside += made.left_out.at("f0") / kRounds;
    }
    EXPECT_GT(inside, 0.75) << families;
    EXPECT_LT(inside, 0.86) << families;
  }
}

// Families whose engine had a level chosen on them are nearer to it than one that was not seen.
TEST(FamilyInterval, WhatWasChosenOnTheFamiliesCountsAgainstThem) {
  double inside = 0;
  constexpr int kRounds = 400;
  ChosenNumbers chosen;
  for (int family = 1; family < 7; ++family)
    chosen["f" + std::to_string(family)] = {family < 4 ? "a" : "b"};
  for (unsigned round = 0; round < kRounds; ++round) {
    std::vector<RatioSample> all = drawn_families(7, 20, 0.15, 0.1, round);
    for (const char* engine : {"a", "b"}) {  // the level that makes its families right in the mean
      double level = 0;
      double rows = 0;
      for (const RatioSample& one : all) {
        const auto of = chosen.find(one.network);
        if (of == chosen.end() || of->second.count(engine) == 0) continue;
        level += std::log(one.ratio);
        ++rows;
      }
      for (RatioSample& one : all) {
        const auto of = chosen.find(one.network);
        if (of != chosen.end() && of->second.count(engine) > 0) one.ratio /= std::exp(level / rows);
      }
    }
    inside += family_interval80(all, chosen).left_out.at("f0") / kRounds;
  }
  EXPECT_GT(inside, 0.75);
  EXPECT_LT(inside, 0.86);
}

// Each number is counted once, whoever shares it; as many as there are families leave one.
TEST(FamilyInterval, EveryChosenNumberMakesItWider) {
  const std::vector<RatioSample> samples = drawn_families(8, 20, 0.2, 0.05, 11);
  double before = family_interval80(samples).interval.high;
  ChosenNumbers chosen;
  for (int count = 1; count < 8; ++count) {
    for (int family = 0; family < 8; ++family)
      chosen["f" + std::to_string(family)].insert(std::to_string(count));
    const double now = family_interval80(samples, chosen).interval.high;
    EXPECT_GT(now, before) << count;
    before = now;
  }
  chosen["f0"].insert("8");
  EXPECT_EQ(family_interval80(samples, chosen).interval.high, before);
}

TEST(FamilyInterval, TellsThePartsApart) {
  const FamilyInterval made = family_interval80(drawn_families(200, 41, 0.2, 0.05, 7));
  EXPECT_NEAR(made.between, 0.2, 0.02);
  EXPECT_NEAR(made.within, 0.05, 0.005);
}

// A row that is ten times off, of twenty, leaves the interval nearly as it is.
TEST(FamilyInterval, OneWildRowDoesNotMakeIt) {
  std::vector<RatioSample> samples = drawn_families(5, 20, 0.1, 0.1, 3);
  const double before = std::log(family_interval80(samples).interval.high);
  samples.front().ratio *= 10;
  const double after = std::log(family_interval80(samples).interval.high);
  EXPECT_NEAR(after, before, 0.1 * before);
}

TEST(FamilyInterval, FamiliesCountTheSameHoweverManyRowsTheyHave) {
  std::vector<RatioSample> samples = drawn_families(4, 20, 0.1, 0.1, 5);
  const Interval before = family_interval80(samples).interval;
  const std::vector<RatioSample> copy = samples;
  for (const RatioSample& one : copy) {
    if (one.network == "f0") samples.insert(samples.end(), 9, one);
  }
  // More rows say how far rows lie apart a little more surely, and nothing else.
  EXPECT_NEAR(family_interval80(samples).interval.high, before.high, 0.02 * (before.high - 1));
  EXPECT_NEAR(before.low * before.high, 1, 1e-12);
}

TEST(FamilyInterval, RefusesWhatSaysNothing) {
  EXPECT_THROW(family_interval80({}), InternalError);
  EXPECT_THROW(family_interval80({{"a", 1.0}, {"a", 1.1}}), InternalError);
  EXPECT_THROW(family_interval80({{"a", 1.0}, {"b", 0.0}}), InternalError);
}

}  // namespace
}  // namespace foretell
