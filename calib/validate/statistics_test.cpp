#include "calib/validate/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

Comparison comparison(double measured, double predicted) { return {measured, predicted, {}}; }

TEST(Statistics, KnownErrors) {
  // Errors +10 %, -20 %, 0 %, +30 %.
  const Accuracy accuracy =
      accuracy_of({comparison(10, 11), comparison(10, 8), comparison(10, 10), comparison(10, 13)});
  EXPECT_EQ(accuracy.n, 4U);
  EXPECT_NEAR(accuracy.mape, 0.15, 1e-12);
  EXPECT_NEAR(accuracy.median, 0.15, 1e-12);          // between 10 % and 20 %
  EXPECT_NEAR(accuracy.p90, 0.2 + 0.7 * 0.1, 1e-12);  // position 2.7 of 0, .1, .2, .3
  EXPECT_NEAR(accuracy.bias, 0.05, 1e-12);
  EXPECT_FALSE(accuracy.coverage.has_value());
}

TEST(Statistics, ExactPredictionsHaveNoError) {
  const Accuracy accuracy = accuracy_of({comparison(3, 3)});
  EXPECT_EQ(accuracy.mape, 0);
  EXPECT_EQ(accuracy.p90, 0);
  EXPECT_EQ(accuracy.bias, 0);
}

TEST(Statistics, ScaleOfTheUnitDoesNotMatter) {
  const Accuracy small = accuracy_of({comparison(1, 1.1), comparison(2, 1.5)});
  const Accuracy large = accuracy_of({comparison(1000, 1100), comparison(2000, 1500)});
  EXPECT_NEAR(small.mape, large.mape, 1e-12);
  EXPECT_NEAR(small.bias, large.bias, 1e-12);
}

TEST(Statistics, CoverageCountsBothEndsAndOnlyRowsWithAnInterval) {
  const Accuracy accuracy = accuracy_of({{10, 11, Interval{10, 12}},
                                         {12, 11, Interval{10, 12}},
                                         {std::nextafter(12, 13), 11, Interval{10, 12}},
                                         {9.99, 11, Interval{10, 12}},
                                         {5, 5, {}}});
  EXPECT_NEAR(*accuracy.coverage, 0.5, 1e-12);
}

TEST(Statistics, RatioQuantilesHoldTheMiddleOfTheMeasurements) {
  std::vector<Comparison> comparisons;
  for (int i = 0; i <= 10; ++i) comparisons.push_back(comparison(90 + 2 * i, 100));
  const Accuracy accuracy = accuracy_of(comparisons);
  EXPECT_NEAR(accuracy.ratio10, 0.92, 1e-12);
  EXPECT_NEAR(accuracy.ratio90, 1.08, 1e-12);
}

TEST(Statistics, QuantileInterpolates) {
  EXPECT_EQ(quantile({3, 1, 2}, 0.5), 2);
  EXPECT_EQ(quantile({3, 1, 2}, 0), 1);
  EXPECT_EQ(quantile({3, 1, 2}, 1), 3);
  EXPECT_NEAR(quantile({1, 2}, 0.25), 1.25, 1e-12);
  EXPECT_EQ(quantile({7}, 0.9), 7);
}

TEST(Statistics, NothingToCompareIsOurMistake) {
  EXPECT_THROW(accuracy_of({}), InternalError);
  EXPECT_THROW(relative_error(comparison(0, 1)), InternalError);
  EXPECT_THROW(accuracy_of({comparison(1, 0)}), InternalError);
}

}  // namespace
}  // namespace foretell
