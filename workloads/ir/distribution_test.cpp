#include "workloads/ir/distribution.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

double total(const Distribution& distribution) {
  double sum = 0;
  for (const Distribution::Point& point : distribution.points()) sum += point.probability;
  return sum;
}

TEST(Distribution, UniformHasTheMeanAndTheQuantilesOfItsRange) {
  const Distribution uniform = Distribution::uniform(16, 512);
  EXPECT_EQ(uniform.points().size(), 497U);
  EXPECT_DOUBLE_EQ(uniform.mean(), 264);
  EXPECT_EQ(uniform.quantile(0), 16);
  EXPECT_EQ(uniform.quantile(1), 512);
  EXPECT_EQ(uniform.quantile(0.5), 264);  // 249 of 497 values are at most 264
  EXPECT_EQ(Distribution::uniform(16, 512, 16).points().size(), 32U);
  EXPECT_EQ(Distribution::uniform(1, 10).quantile(0.9), 9);  // not 10: sums are rounded
}

TEST(Distribution, WeightsAreOfAnyScaleAndEqualValuesAddUp) {
  const Distribution histogram({{8, 3}, {4, 1}, {8, 3}, {2, 0}});
  ASSERT_EQ(histogram.points().size(), 2U);
  EXPECT_EQ(histogram.lowest(), 4);
  EXPECT_DOUBLE_EQ(histogram.points()[1].probability, 6.0 / 7);
  EXPECT_THROW(Distribution({}), UserError);
  EXPECT_THROW(Distribution({{4, 0}}), UserError);
  EXPECT_THROW(Distribution({{4, 2}, {5, -1}}), UserError);
  EXPECT_THROW(Distribution({{4, std::nan("")}}), UserError);
}

TEST(Distribution, SumsOfIndependentNumbersAddTheirMeans) {
  const Distribution dice = Distribution::uniform(1, 6);
  const Distribution two = sum(dice, dice);
  EXPECT_EQ(two.points().size(), 11U);
  EXPECT_NEAR(two.points()[5].probability, 6.0 / 36, 1e-15);
  EXPECT_NEAR(two.mean(), 7, 1e-12);
  // Wald: the mean of a random number of throws.
  EXPECT_NEAR(repeated_sum(dice, dice).mean(), 3.5 * 3.5, 1e-9);
  EXPECT_EQ(repeated_sum(Distribution::uniform(0, 3), Distribution::certain(2)).highest(), 6);
  EXPECT_EQ(repeated_sum(Distribution::certain(0), dice).highest(), 0);
  EXPECT_THROW(repeated_sum(Distribution::certain(1e6), dice), UserError);
}

TEST(Distribution, MixturesWeighTheirParts) {
  const Distribution mixed =
      mixture({{0.25, Distribution::certain(4)}, {0.75, Distribution::certain(8)}});
  EXPECT_DOUBLE_EQ(mixed.mean(), 7);
  EXPECT_EQ(mixed.quantile(0.25), 4);
  EXPECT_EQ(mixed.quantile(0.26), 8);
  EXPECT_THROW(mixture({{0, Distribution::certain(4)}}), UserError);
}

TEST(Distribution, ManyOutcomesAreJoinedWithoutMovingTheMean) {
  Distribution wide = Distribution::certain(0);
  double mean = 0;
  for (int i = 0; i < 16; ++i) {  // 65,536 different sums
    const double step = std::pow(2.0, i);
    wide = sum(wide, Distribution({{0, 1}, {step, 1}}));
    mean += step / 2;
  }
  EXPECT_LE(wide.points().size(), kMaxValues + 1);
  EXPECT_NEAR(wide.mean(), mean, 1e-9 * mean);
  EXPECT_NEAR(wide.quantile(0.9), 0.9 * 65535, 65535.0 / kMaxValues);
  EXPECT_NEAR(total(wide), 1, 1e-12);
}

}  // namespace
}  // namespace foretell
