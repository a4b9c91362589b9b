// Factors of a measured GPU on one that was not measured.
#include "calib/fitted/gpu/gpu_transfer.hpp"

#include <gtest/gtest.h>

#include "hw/spec/gpu/gpu_catalog.hpp"

namespace foretell {
namespace {

GpuDeviceSpec gpu(const std::string& id) { return GpuCatalog().load(id).spec.device; }

GemmFactors some_factors() {
  GemmFactors factors;
  factors.launch = Seconds(8e-6);
  factors.step = Cycles(400);
  factors.split = Cycles(10000);
  factors.l2_feed = BytesPerCycle(100);
  factors.sm_feed = BytesPerCycle(70);
  factors.quantise_passes = 2;
  factors.gemv_launch = Seconds(7e-6);
  factors.gemv_step = Cycles(1);
  return factors;
}

TEST(GpuTransfer, ToItselfChangesNothing) {
  const GpuDeviceSpec h100 = gpu("h100-sxm");
  for (const char* type : {"bf16", "fp8", "int8_wo", "int8_sq"}) {
    GemmFactors factors = some_factors();
    carry_over(factors, type, h100, h100);
    EXPECT_EQ(factors.launch, some_factors().launch) << type;
    EXPECT_EQ(factors.step, some_factors().step) << type;
    EXPECT_EQ(factors.l2_feed, some_factors().l2_feed) << type;
    EXPECT_EQ(factors.quantise_passes, some_factors().quantise_passes) << type;
  }
}

TEST(GpuTransfer, ThereAndBackIsTheSame) {
  const GpuDeviceSpec h200 = gpu("h200-sxm");
  const GpuDeviceSpec b200 = gpu("b200-sxm");
  GemmFactors factors = some_factors();
  carry_over(factors, "fp8", h200, b200);
  EXPECT_NEAR(factors.l2_feed.value(), 2 * 100, 5);  // twice the FLOP of an SM and cycle
  EXPECT_EQ(factors.sm_feed, some_factors().sm_feed);
  EXPECT_NEAR(factors.quantise_passes, 1 + 8000.0 / 4800, 1e-9);
  GemmFactors one_pass = some_factors();
  one_pass.quantise_passes = 0.9;
  carry_over(one_pass, "fp8", h200, b200);
  EXPECT_EQ(one_pass.quantise_passes, 0.9);
  GemmFactors back = factors;
  carry_over(back, "bf16", b200, h200);
  EXPECT_NEAR(back.l2_feed.value(), 100, 1e-9);
  EXPECT_NEAR(back.launch.value(), some_factors().launch.value(), 1e-15);
}

TEST(GpuTransfer, NarrowWeightsAreWidenedOnTheVectorPipe) {
  const GpuDeviceSpec a100 = gpu("a100-sxm");
  const GpuDeviceSpec h200 = gpu("h200-sxm");
  GemmFactors weights = some_factors();
  carry_over(weights, "int8_wo", a100, h200);
  EXPECT_LT(weights.step, Cycles(0.8 * 400));  // an SM of Hopper has twice the FP32 lanes
  EXPECT_LT(weights.gemv_step, Cycles(0.6));
  EXPECT_LT(weights.launch, Seconds(6.5e-6));
  EXPECT_EQ(weights.l2_feed, BytesPerCycle(100));
  GemmFactors both = some_factors();
  carry_over(both, "int8_sq", a100, h200);
  EXPECT_EQ(both.step, Cycles(400));
}

TEST(GpuTransfer, AWiderPipeFeedsAttentionFaster) {
  AttentionFactors factors;
  factors.sm_feed = BytesPerCycle(30);
  factors.prologue = Cycles(4000);
  factors.score = Cycles(2.5);
  AttentionFactors older = factors;
  carry_over(factors, gpu("h200-sxm"), gpu("b200-sxm"));
  EXPECT_NEAR(factors.sm_feed.value(), 60, 1);
  EXPECT_NEAR(factors.prologue.value(), 2000, 50);
  EXPECT_NEAR(factors.score.value(), 5.5, 0.1);  // 16 exponentials and 128 instructions in a cycle
  carry_over(older, gpu("h200-sxm"), gpu("a100-sxm"));
  EXPECT_EQ(older.sm_feed, BytesPerCycle(30));
  EXPECT_EQ(older.prologue, Cycles(2000));  // of two blocks that start under one another
}

// From wgmma to mma.sync: 16 exponentials and 64 FP32 instructions of an SM in a cycle.
TEST(GpuTransfer, WhereThreadsWaitTheSoftmaxFollowsTheProducts) {
  const GpuDeviceSpec h200 = gpu("h200-sxm");
  const GpuDeviceSpec a100 = gpu("a100-sxm");
  AttentionFactors prompts;
  prompts.mma_efficiency = 0.8;
  prompts.score = Cycles(2.5);
  prompts.prologue = Cycles(1000);
  prompts.sm_feed = BytesPerCycle(40);
  AttentionFactors kept = prompts;
  carry_over(prompts, h200, a100);
  EXPECT_NEAR(prompts.score.value(), 7, 0.1);
  EXPECT_EQ(prompts.mma_efficiency, 0.8);
  EXPECT_EQ(prompts.prologue, Cycles(500));
  EXPECT_EQ(prompts.sm_feed, BytesPerCycle(80));
  carry_over(kept, h200, gpu("h100-sxm"));
  EXPECT_EQ(kept.score, Cycles(2.5));
  EXPECT_EQ(kept.prologue, Cycles(1000));
  AttentionFactors longer = kept;
  longer.score = Cycles(20);
  carry_over(longer, h200, a100);
  EXPECT_EQ(longer.score, Cycles(20));  // what is slower already stays
}

TEST(GpuTransfer, WithoutDependentLaunchesCombiningPartsIsAKernelOfItsOwn) {
  const GpuDeviceSpec a100 = gpu("a100-sxm");
  AttentionFactors tokens;
  tokens.split = Cycles(100);
  carry_over(tokens, gpu("h200-sxm"), a100);
  const double floors = tokens.common.kernel_floors * a100.launch_floor.value();
  EXPECT_NEAR(tokens.split.value(), floors * a100.clock.boost.value(), 1);
  EXPECT_NEAR(tokens.regroup.value(), floors, 1e-12);
}

TEST(GpuTransfer, ProductsWithoutTheUnitHaveFewerStagesAndASlowerEnd) {
  const GpuDeviceSpec h200 = gpu("h200-sxm");
  const GpuDeviceSpec a100 = gpu("a100-sxm");
  GemmFactors products = some_factors();
  products.epilogue = BytesPerCycle(30);
  products.stages_ahead = 3;
  GemmFactors plugin = products;
  carry_over(products, "bf16", h200, a100);
  EXPECT_NEAR(products.epilogue.value(), 15, 0.5);
  EXPECT_NEAR(products.stages_ahead, 3 * 164.0 / 228, 1e-9);
  carry_over(plugin, "int8_sq", h200, a100);
  EXPECT_EQ(plugin.epilogue, BytesPerCycle(30));
  EXPECT_EQ(plugin.stages_ahead, 3);
}

TEST(GpuTransfer, OperandsThatThreadsReadTakeFromTheShare) {
  const GpuDeviceSpec h200 = gpu("h200-sxm");
  const GpuDeviceSpec a100 = gpu("a100-sxm");
  const GpuDeviceSpec l40s = gpu("l40s");
  const CommonFactors& common = common_factors();
  EXPECT_EQ(share_with_reads(0, h200, a100, common), 0);
  EXPECT_NEAR(share_with_reads(0.8, h200, gpu("b200-sxm"), common), 0.8, 1e-12);
  EXPECT_NEAR(share_with_reads(1, h200, a100, common), 2.0 / 3, 0.01);
  // A pipe half as wide on a port as wide: reading takes less of the time.
  EXPECT_GT(share_with_reads(0.8, h200, l40s, common), share_with_reads(0.8, h200, a100, common));
  const double there = share_with_reads(0.5, a100, l40s, common);
  EXPECT_GT(there, 0.5);
  EXPECT_NEAR(share_with_reads(there, l40s, a100, common), 0.5, 1e-12);
  EXPECT_LE(share_with_reads(0.95, a100, h200, common), 1);
}

TEST(GpuTransfer, AChipWithoutAMatrixPipeKeepsTheRates) {
  GemmFactors factors = some_factors();
  carry_over(factors, "bf16", gpu("a100-sxm"), gpu("p100-pcie-16gb"));
  EXPECT_EQ(factors.l2_feed, some_factors().l2_feed);
}

}  // namespace
}  // namespace foretell
