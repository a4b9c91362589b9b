#include "model/timing/gpu/energy_work.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

TEST(EnergyWork, CausalPairsAreATriangleInTilesOfKeys) {
  EXPECT_DOUBLE_EQ(scored_pairs(128, 0, 0), 128 * 129 / 2);
  EXPECT_DOUBLE_EQ(executed_pairs(128, 0, 0), 128 * 128);  // one tile, masked in half
  for (const double length : {256.0, 1024.0, 16384.0}) {
    EXPECT_GT(executed_pairs(length, 0, 0), scored_pairs(length, 0, 0));
    EXPECT_LE(executed_pairs(length, 0, 0), length * length);
  }
  EXPECT_NEAR(executed_pairs(16384, 0, 0) / scored_pairs(16384, 0, 0), 1, 0.01);
}

TEST(EnergyWork, AWindowHasTwoMaskedEdges) {
  EXPECT_NEAR(executed_pairs(8192, 0, 128) / scored_pairs(8192, 0, 128), 2, 0.05);
  EXPECT_NEAR(executed_pairs(8192, 0, 4096) / scored_pairs(8192, 0, 4096), 1, 0.05);
  EXPECT_LE(executed_pairs(64, 0, 32), 64 * 128);
}

}  // namespace
}  // namespace foretell
