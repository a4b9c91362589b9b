#include "model/mapping/gpu/expert_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace foretell {
namespace {

TEST(ExpertRows, TheyAddUpAndTheIdleOnesAreLeftOut) {
  for (const std::int64_t experts : {1, 2, 8, 64, 256}) {
    for (const std::int64_t rows : {1, 2, 7, 64, 4096, 100000}) {
      const std::vector<std::int64_t> each = expert_rows(rows, experts);
      EXPECT_EQ(std::accumulate(each.begin(), each.end(), std::int64_t{0}), rows);
      EXPECT_GE(*std::min_element(each.begin(), each.end()), 1);
      EXPECT_LE(static_cast<std::int64_t>(each.size()), std::min(rows, experts));
    }
  }
}

TEST(ExpertRows, FewRowsReachAsManyExpertsAsExpected) {
  const double expected = 64 * (1 - std::pow(1 - 1.0 / 64, 48));
  EXPECT_NEAR(static_cast<double>(expert_rows(48, 64).size()), expected, 1.5);
  EXPECT_EQ(expert_rows(2, 8).size(), 2U);
}

TEST(ExpertRows, TheySpreadAsBinomialNumbersDo) {
  const std::vector<std::int64_t> each = expert_rows(64 * 400, 64);
  double square = 0;
  for (const std::int64_t rows : each) square += std::pow(static_cast<double>(rows) - 400, 2);
  EXPECT_NEAR(std::sqrt(square / 64), std::sqrt(400 * 63.0 / 64), 1.5);
}

}  // namespace
}  // namespace foretell
