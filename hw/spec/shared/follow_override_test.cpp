// What is fitted, or stated for the whole chip, moves with an override of what it stands for.
#include "hw/spec/shared/follow_override.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "calib/fitted/neuron/calibrated_system.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"

namespace foretell {
namespace {

using Set = std::vector<std::string>;

GpuDeviceSpec h100(const Set& set) { return GpuCatalog().load("h100-sxm", set).spec.device; }

TEST(FollowOverride, AFittedTimeIsThePublishedOneAndWhatIsBeyondIt) {
  const auto us = [](double fitted, double published, double stated) {
    return follow_time(Seconds(fitted), Seconds(published), Seconds(stated)).value();
  };
  EXPECT_DOUBLE_EQ(us(5, 2, 2), 5);
  EXPECT_DOUBLE_EQ(us(5, 2, 4), 7);
  EXPECT_DOUBLE_EQ(us(5, 2, 0), 3);
  EXPECT_DOUBLE_EQ(us(1, 2, 2), 1);
  EXPECT_DOUBLE_EQ(us(1, 2, 4), 2);
  EXPECT_DOUBLE_EQ(us(1, 2, 0), 0);
  double last = 0;
  for (double stated = 0; stated < 10; stated += 0.25) {  // never shorter for a longer one
    EXPECT_GE(us(1, 2, stated), last);
    last = us(1, 2, stated);
  }
}

TEST(FollowOverride, RatesOfAChipAreThoseOfItsMultiprocessorsAndClock) {
  const GpuDeviceSpec file = h100({});
  const GpuDeviceSpec wide = h100({"device.sms=264"});
  EXPECT_DOUBLE_EQ(wide.matrix_rate.at("bf16"), 2 * file.matrix_rate.at("bf16"));
  EXPECT_DOUBLE_EQ(wide.vector_rate.at("fp32"), 2 * file.vector_rate.at("fp32"));
  const GpuDeviceSpec fast = h100({"device.clock.boost=3.66 GHz"});
  EXPECT_DOUBLE_EQ(fast.matrix_rate.at("fp8"), 2 * file.matrix_rate.at("fp8"));
  EXPECT_EQ(h100({"device.sms=132"}).matrix_rate, file.matrix_rate);
}

TEST(FollowOverride, ARateThatIsStatedStands) {
  const GpuDeviceSpec spec = h100({"device.sms=264", "device.matrix_rate.bf16=500 TFLOP/s"});
  EXPECT_DOUBLE_EQ(spec.matrix_rate.at("bf16"), 500e12);
  EXPECT_DOUBLE_EQ(spec.matrix_rate.at("fp16"), 2 * h100({}).matrix_rate.at("fp16"));
}

TEST(FollowOverride, TheSustainedRateMovesWithTheCubeRootOfThePower) {
  const double file = h100({}).sustained_rate;
  EXPECT_NEAR(h100({"device.power_watts=87.5"}).sustained_rate, file / 2, 1e-12);
  EXPECT_EQ(h100({"device.power_watts=100000"}).sustained_rate, 1);
  EXPECT_EQ(h100({"device.power_watts=87.5", "device.sustained_rate=0.9"}).sustained_rate, 0.9);
}

TEST(FollowOverride, AMovedValueIsShownAsOne) {
  const LoadedGpuSystem loaded = GpuCatalog().load("h100-sxm", {"device.sms=264"});
  const auto found = std::find_if(
      loaded.parameters.begin(), loaded.parameters.end(),
      [](const Parameter& parameter) { return parameter.path == "device.matrix_rate.bf16"; });
  ASSERT_NE(found, loaded.parameters.end());
  EXPECT_EQ(found->value, "1.9788 PFLOP/s");
  EXPECT_EQ(found->kind, ValueKind::kOverride);
}

TEST(FollowOverride, FactorsOfAGpuMoveWithTheFactsTheyStandFor) {
  const auto factors = [](const Set& set) { return GpuFactors(h100(set), "").gemm("bf16"); };
  const GemmFactors file = factors({});
  EXPECT_LT(factors({"device.launch_floor=0 us"}).launch, file.launch);
  EXPECT_GT(factors({"device.launch_floor=50 us"}).launch, Seconds(40e-6));
  EXPECT_NEAR(factors({"device.reachable_rate=0.435"}).mma_efficiency, file.mma_efficiency / 2,
              1e-12);
  EXPECT_LT(GpuFactors(h100({"device.reachable_rate=0.3"}), "none").gemm("bf16").mma_efficiency,
            0.4);
  EXPECT_EQ(GpuFactors(h100({"device.launch_floor=50 us"}), "", {"factors.launch=1 us"})
                .gemm("bf16")
                .launch,
            Seconds(1e-6));
}

NeuronFactors inf2(const Set& set) {
  LoadOptions options;
  options.set = set;
  return load_calibrated("inf2.48xlarge", options).factors;
}

TEST(FollowOverride, FactorsOfANeuronCoreMoveWithTheFactsTheyStandFor) {
  const NeuronFactors file = inf2({});
  const Seconds second(1);
  const NeuronFactors slow = inf2({"device.host.call_overhead=1 s"});
  EXPECT_NEAR(slow.call_overhead / second, 1 + file.call_overhead.value() - 28e-6, 1e-12);
  EXPECT_GT(slow.prefill_overhead, file.prefill_overhead);
  EXPECT_EQ(inf2({"link.hop_latency=0 s"}).hop_latency, Seconds(0));
  EXPECT_GT(inf2({"link.hop_latency=3 us"}).hop_latency, file.hop_latency);
  EXPECT_EQ(inf2({"link.hop_latency=3 us", "factors.hop_latency=1 us"}).hop_latency, Seconds(1e-6));
  EXPECT_EQ(inf2({"link.hop_latency=1.5 us"}).hop_latency, file.hop_latency);
}

}  // namespace
}  // namespace foretell
