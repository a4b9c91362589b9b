// Which fitted factors the networks of a GPU run with.
#include "calib/fitted/gpu/gpu_factors.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/spec/gpu/gpu_catalog.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

GpuDeviceSpec device(const std::string& id) { return GpuCatalog().load(id).spec.device; }

TEST(GpuFactors, Fp32HasThoseOfTheVectorPipeAndTheLaunchOfAGraph) {
  const GpuDeviceSpec v100 = device("v100-pcie-32gb");
  const GpuFactors factors(v100, "");
  ASSERT_TRUE(factors.on_vector_pipe("fp32"));
  EXPECT_FALSE(factors.on_vector_pipe("fp16"));
  EXPECT_EQ(factors.note("fp32"), "");
  const auto linear = factors.product({"pytorch linear fp32"});
  ASSERT_TRUE(linear);
  EXPECT_EQ(linear->device, v100.id);
  EXPECT_EQ(factors.gemm("fp32").mma_efficiency, linear->factors.gemm.mma_efficiency);
  EXPECT_EQ(factors.gemm("fp32").launch, factors.gemm("fp16").launch);
  EXPECT_NE(factors.gemm("fp32", true).l2_feed, factors.gemm("fp32").l2_feed);
  EXPECT_THAT(GpuFactors(device("h100-sxm"), "").note("fp32"),
              HasSubstr("pytorch linear fp32 on a100-pcie-40gb"));
}

TEST(GpuFactors, Int8WithoutAnFp8KernelLearnsFromTheInt8OfTheChip) {
  EXPECT_THAT(GpuFactors(device("a100-sxm"), "").note("int8"), HasSubstr("int8_sq on a100-sxm"));
  EXPECT_THAT(GpuFactors(device("h200-sxm"), "").note("int8"), HasSubstr("fp8 on h200-sxm"));
}

TEST(GpuFactors, PluginsAreLaunchedLikeOtherKernelsOfAGraph) {
  const GpuFactors factors(device("a100-sxm"), "");
  EXPECT_EQ(factors.gemm("int8_wo").launch, factors.gemm("bf16").launch);
  EXPECT_GE(factors.gemm("int8_wo").gemv_launch, factors.gemm("bf16").launch);
  EXPECT_LT(factors.gemm("int8_wo").gemv_launch, Seconds(6e-6));
}

TEST(GpuFactors, FactsAloneKnowNoOperator) {
  const GpuFactors facts(device("v100-pcie-32gb"), "none");
  EXPECT_FALSE(facts.product({"pytorch linear fp32"}));
  EXPECT_FALSE(facts.pass({"pytorch norm fp32"}));
  EXPECT_FALSE(GpuFactors(device("v100-pcie-32gb"), "").pass({"no such table"}));
}

}  // namespace
}  // namespace foretell
