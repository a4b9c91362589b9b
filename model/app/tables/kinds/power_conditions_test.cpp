#include "model/app/tables/kinds/power_conditions.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

PowerRow row_of(const char* kernel_class, double queries = 0, double experts = 0) {
  PowerRow row;
  row.kernel_class = kernel_class;
  row.queries = queries;
  row.experts = experts;
  return row;
}

TEST(PowerConditions, AreThoseThatTheFileStates) {
  const PowerConditions conditions;
  EXPECT_EQ(conditions.of(row_of("gemm fp8_block"), "sglang", ""), PowerCondition::kRandom);
  EXPECT_EQ(conditions.of(row_of("gemm fp8_block"), "vllm", ""), PowerCondition::kOther);
  EXPECT_EQ(conditions.of(row_of("gemm bfloat16"), "vllm", ""), PowerCondition::kUnknown);
  EXPECT_EQ(conditions.of(row_of("gemm bfloat16"), "sglang", ""), PowerCondition::kRandom);
  EXPECT_EQ(conditions.of(row_of("context attention bfloat16", 4096), "vllm", ""),
            PowerCondition::kUnwritten);
  EXPECT_EQ(conditions.of(row_of("context attention bfloat16", 16384), "sglang", ""),
            PowerCondition::kUnsteady);
  EXPECT_EQ(conditions.of(row_of("context attention bfloat16", 8192), "sglang", ""),
            PowerCondition::kRandom);
  const char* triton = "moe:sglang_fused_moe_triton";
  EXPECT_EQ(conditions.of(row_of("experts fp8", 0, 8), "sglang", triton), PowerCondition::kRandom);
  EXPECT_EQ(conditions.of(row_of("experts fp8", 0, 64), "sglang", triton), PowerCondition::kZeros);
}

// A mean over a second, read during a second: half of what comes on when the test begins.
TEST(PowerMeterLaws, AColdTestShowsHalfAndWarmRunsOrLongTestsAllOfIt) {
  const PowerMeter meter{Seconds(1), Seconds(1), 6, 0};
  EXPECT_NEAR(shown_of_cold_test(meter, Seconds(1e-3)), 0.5, 1e-12);
  EXPECT_NEAR(shown_of_cold_test(meter, Seconds(1)), 1 - 0.5 / 6, 1e-12);  // six seconds
  const PowerMeter warmed{Seconds(1), Seconds(1), 6, 7};
  double before = 0.5;
  for (const double kernel : {1e-3, 1e-2, 0.05, 0.1, 0.14}) {
    const double shown = shown_of_cold_test(warmed, Seconds(kernel));
    EXPECT_GT(shown, before);
    EXPECT_LE(shown, 1);
    before = shown;
  }
  EXPECT_DOUBLE_EQ(shown_of_cold_test(warmed, Seconds(1.0 / 7)), 1);
}

TEST(PowerConditions, TestsBeginColdWhereTheFileSaysSo) {
  const PowerConditions conditions;
  PowerRow row = row_of("gemm fp8_block");
  row.latency = Seconds(1e-3);
  row.rows = 32768;
  EXPECT_LT(conditions.shown_share(row, "vllm"), 0.6);
  EXPECT_EQ(conditions.shown_share(row, "sglang"), 1);
  row.rows = 16384;
  EXPECT_EQ(conditions.shown_share(row, "vllm"), 1);
}

TEST(PowerConditions, IntervalsAreOfAKindOfKernelAndItsCondition) {
  EXPECT_EQ(power_interval_key("context attention fp8", PowerCondition::kRandom),
            "context attention, random operands");
  EXPECT_EQ(power_interval_key("gemm nvfp4", PowerCondition::kOther), "gemm, other operands");
}

}  // namespace
}  // namespace foretell
