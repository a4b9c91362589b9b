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

TEST(EnergyWork, WhatComesFromMemoryPassesL2) {
  const OperandType narrow{8, 1};
  for (const std::int64_t rows : {1, 16, 128, 4096}) {
    const EnergyWork product = gemm_energy_work({rows, 7168, 4096}, narrow);
    EXPECT_GE(product.l2.value(), 7168.0 * 4096);  // the weights
    EXPECT_DOUBLE_EQ(product.matrix_8.value(), 2.0 * static_cast<double>(rows) * 7168 * 4096);
  }
}

EnergyExperts experts(std::vector<LayerCall::Groups> groups) {
  EnergyExperts shape;
  shape.loads = {{std::move(groups), 64}};
  shape.hidden = 4096;
  shape.intermediate = 1024;
  shape.top_k = 8;
  return shape;
}

TEST(EnergyWork, ExpertsWithoutRowsCostNothing) {
  const OperandType type{8, 1};
  const EnergyWork some = experts_energy_work(experts({{64, 8}}), type);
  const EnergyWork same = experts_energy_work(experts({{64, 8}, {0, 56}}), type);
  EXPECT_DOUBLE_EQ(some.dram.value(), same.dram.value());
  EXPECT_DOUBLE_EQ(some.l2.value(), same.l2.value());
  EXPECT_DOUBLE_EQ(some.matrix_8.value(), 2.0 * 512 * 3 * 4096 * 1024);
}

TEST(EnergyWork, RowsThatAreSpreadReadMoreWeights) {
  const OperandType type{16, 2};
  const EnergyWork one = experts_energy_work(experts({{512, 1}}), type);
  const EnergyWork all = experts_energy_work(experts({{8, 64}}), type);
  EXPECT_DOUBLE_EQ(one.matrix_16.value(), all.matrix_16.value());
  EXPECT_GT(all.dram.value(), 8 * one.dram.value());
  EXPECT_GT(all.l2.value(), 4 * one.l2.value());
}

TEST(EnergyWork, ExpertsFillWholeTilesOfTheirKernel) {
  const OperandType type{16, 2};
  EnergyExperts one = experts({{1, 8}});
  const EnergyWork rows = experts_energy_work(one, type);
  LayerTile tile;
  tile.rows = 64;
  tile.columns = 64;
  one.tile = tile;
  const EnergyWork filled = experts_energy_work(one, type);
  EXPECT_DOUBLE_EQ(filled.matrix_16.value(), 64 * rows.matrix_16.value());
  EXPECT_DOUBLE_EQ(filled.dram.value(), rows.dram.value());  // the padding is not read
  EnergyExperts full = experts({{64, 8}});
  full.tile = tile;
  EXPECT_DOUBLE_EQ(experts_energy_work(full, type).matrix_16.value(), filled.matrix_16.value());
  tile.columns = 128;  // wider tiles read rows less often
  full.tile = tile;
  EXPECT_LT(experts_energy_work(full, type).l2.value(), filled.l2.value());
}

TEST(EnergyWork, PassesOverTheChoicesOfOthersMoveMore) {
  const OperandType type{16, 2};
  EnergyExperts walks = experts({{64, 1}});
  const EnergyWork own = experts_energy_work(walks, type);
  walks.walks_all = true;  // 64 tokens with 8 choices each
  const EnergyWork others = experts_energy_work(walks, type);
  EXPECT_DOUBLE_EQ(others.dram.value() - own.dram.value(), 2.0 * 2 * (512 - 64) * (4096 + 1024));
  walks.activates = false;
  EXPECT_LT(experts_energy_work(walks, type).dram.value(), others.dram.value());
}

}  // namespace
}  // namespace foretell
