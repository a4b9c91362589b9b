// Factors of one kernel for another that stands in for it.
#include "calib/fitted/gpu/layer_kernel_factors.hpp"

#include <gtest/gtest.h>

#include "hw/spec/gpu/gpu_catalog.hpp"

namespace foretell {
namespace {

TEST(StandIn, LaunchesFollowTheNumberOfKernels) {
  const GpuDeviceSpec b200 = GpuCatalog().load("b200-sxm").spec.device;
  LayerKernelFactors factors;
  factors.launch = Seconds(21e-6);
  factors.pass_feed = BytesPerCycle(9);
  factors.step = Cycles(200);
  OtherKernel other;
  other.launches = 4.0 / 7;
  stand_in(factors, other, b200);
  EXPECT_NEAR(factors.launch.value(), 12e-6, 1e-12);
  EXPECT_EQ(factors.pass_feed, BytesPerCycle(9));
  EXPECT_EQ(factors.step, Cycles(200));
}

TEST(StandIn, PassesOfOtherCodeGoAtTheRateOfDram) {
  const GpuDeviceSpec b200 = GpuCatalog().load("b200-sxm").spec.device;
  LayerKernelFactors factors;
  factors.pass_feed = BytesPerCycle(9);
  OtherKernel other;
  other.streams_passes = true;
  stand_in(factors, other, b200);
  const double all_sms = factors.pass_feed.value() * b200.sms * b200.clock.boost.value();
  EXPECT_NEAR(all_sms, b200.hbm.bandwidth.value(), 1);
  EXPECT_EQ(factors.launch, Seconds(0));
}

}  // namespace
}  // namespace foretell
