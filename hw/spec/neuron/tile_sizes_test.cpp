#include "hw/spec/neuron/tile_sizes.hpp"

#include <gtest/gtest.h>

#include "hw/spec/shared/catalog.hpp"

namespace foretell {
namespace {

int rows_with(int rows, int columns) {
  CoreShape shape = core_shape(Catalog().load("inf2.xlarge").spec.device.core);
  shape.tensor.rows = rows;
  shape.tensor.columns = columns;
  return tile_sizes(shape).rows;
}

TEST(TileSizes, TilesAreAsLargeAsTheLargestOfArrayAndPartitions) {
  EXPECT_EQ(rows_with(128, 128), 128);
  EXPECT_EQ(rows_with(256, 128), 256);
  EXPECT_EQ(rows_with(192, 192), 192);
}

// 128 rows are two parts of an array of 64, and nearly two of 65; of 120 they would be two of which
// one is nearly empty.
TEST(TileSizes, ASmallArrayTakesWholePartsWhereTheyWasteLess) {
  EXPECT_EQ(rows_with(64, 64), 128);
  EXPECT_EQ(rows_with(65, 65), 128);
  EXPECT_EQ(rows_with(32, 32), 128);
  EXPECT_EQ(rows_with(100, 100), 100);
  EXPECT_EQ(rows_with(120, 120), 120);
  EXPECT_EQ(rows_with(127, 127), 127);
}

}  // namespace
}  // namespace foretell
