#include "model/app/tables/power_conditions.hpp"

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

TEST(PowerConditions, IntervalsAreOfAKindOfKernelAndItsCondition) {
  EXPECT_EQ(power_interval_key("context attention fp8", PowerCondition::kRandom),
            "context attention, random operands");
  EXPECT_EQ(power_interval_key("gemm nvfp4", PowerCondition::kOther), "gemm, other operands");
}

}  // namespace
}  // namespace foretell
