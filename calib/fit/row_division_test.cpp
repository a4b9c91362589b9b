#include "calib/fit/row_division.hpp"

#include <gtest/gtest.h>

#include <set>

namespace foretell {
namespace {

TEST(RowDivision, AboutAQuarterOfTheHeadConfigurationsIsHeldOut) {
  int held_out = 0;
  int all = 0;
  for (const int heads : {1, 2, 4, 8, 16, 24, 32, 40, 48, 64, 96, 128}) {
    for (int key_heads = 1; key_heads <= heads; key_heads *= 2) {
      for (const int head_dim : {64, 128, 256}) {
        ++all;
        held_out += is_held_out_heads(heads, key_heads, head_dim) ? 1 : 0;
      }
    }
  }
  EXPECT_NEAR(static_cast<double>(held_out) / all, 0.27, 0.06);
}

TEST(RowDivision, AboutAQuarterOfTheFamiliesOfProductsIsHeldOut) {
  int held_out = 0;
  int all = 0;
  for (std::int64_t n = 32; n <= 65536; n += 32 * (1 + n / 1024)) {
    for (std::int64_t k = 32; k <= 65536; k += 32 * (1 + k / 1024)) {
      held_out += is_held_out_family(n, k) ? 1 : 0;
      ++all;
    }
  }
  EXPECT_NEAR(held_out / static_cast<double>(all), 0.25, 0.02);
}

TEST(RowDivision, RowsAreDrawnOnceAndTheSameForASeed) {
  const std::vector<std::size_t> drawn = draw_rows(100, 30, 7);
  EXPECT_EQ(std::set<std::size_t>(drawn.begin(), drawn.end()).size(), 30U);
  EXPECT_EQ(drawn, draw_rows(100, 30, 7));
  EXPECT_EQ(draw_rows(5, 30, 7).size(), 5U);
}

}  // namespace
}  // namespace foretell
