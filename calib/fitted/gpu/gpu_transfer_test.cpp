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
  EXPECT_EQ(factors.score, Cycles(4));
  carry_over(older, gpu("h200-sxm"), gpu("a100-sxm"));
  EXPECT_EQ(older.sm_feed, BytesPerCycle(30));
  EXPECT_EQ(older.prologue, Cycles(4000));
}

TEST(GpuTransfer, AChipWithoutAMatrixPipeKeepsTheRates) {
  GemmFactors factors = some_factors();
  carry_over(factors, "bf16", gpu("a100-sxm"), gpu("p100-pcie-16gb"));
  EXPECT_EQ(factors.l2_feed, some_factors().l2_feed);
}

}  // namespace
}  // namespace foretell
