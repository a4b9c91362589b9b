#include "calib/fit/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::string plan_with(const std::string& factors) {
  return "devices: [one, two]\nnoise: 0.05\nfactors:\n" + factors;
}

constexpr const char* kOverhead =
    "  call_overhead: {prior: 28 us, width: 0.2 ms, low: 0 us, high: 2 ms, why: w}\n";

TEST(FitPlan, ValuesCarryTheUnitOfTheParameter) {
  const FitPlan plan = parse_fit_plan(plan_with(kOverhead), "p.yaml");
  ASSERT_EQ(plan.factors.size(), 1U);
  const FreeFactor& factor = plan.factors.front();
  EXPECT_DOUBLE_EQ(factor.prior, 28e-6);
  EXPECT_DOUBLE_EQ(factor.width, 200e-6);
  EXPECT_DOUBLE_EQ(factor.high, 2e-3);
  EXPECT_EQ(factor.text(231.4159e-6), "231.4 us");
  EXPECT_EQ(factor.text(0), "0 s");
  EXPECT_THAT(factor.meaning, HasSubstr("per call"));
  EXPECT_TRUE(factor.applies_to("one"));
  EXPECT_TRUE(factor.applies_to("two"));
}

TEST(FitPlan, AFactorOfOneDeviceLeavesTheOtherAlone) {
  const FitPlan plan = parse_fit_plan(
      plan_with("  clock_derate: {prior: 1, width: 0.1, low: 0.8, high: 2, devices: [two], why: "
                "w}\n"),
      "p.yaml");
  EXPECT_FALSE(plan.factors.front().applies_to("one"));
  EXPECT_TRUE(plan.factors.front().applies_to("two"));
}

TEST(FitPlan, NamesEveryMistakeAtOnce) {
  const std::string text = plan_with(
      "  call_overheat: {prior: 28 us, width: 1 us, low: 0 us, high: 2 ms, why: w}\n"
      "  clock_derate: {prior: 3, width: 0.1, low: 0.8, high: 2, why: w}\n"
      "  dma_rate_fraction: {prior: 1, width: 0, low: 0.8, high: 1.2, why: w}\n"
      "  semaphore_latency: {prior: 1, width: 1 ns, low: 0 ns, high: 2 ns, why: w}\n"
      "  prefetch_window_fraction: {prior: 1, width: 1, low: 0.1, high: 1.5, why: w}\n"
      "  sdk_engine_time.2.9: {prior: 1, width: 1, low: 0.5, high: 2, devices: [oen], why: w}\n");
  EXPECT_THAT(
      [&] { parse_fit_plan(text, "p.yaml"); },
      ThrowsMessage<UserError>(AllOf(
          HasSubstr("p.yaml:4: call_overheat"), HasSubstr("nearest is 'call_overhead'"),
          HasSubstr("p.yaml:5: clock_derate: the prior has to lie between low and high"),
          HasSubstr("p.yaml:6: dma_rate_fraction.width: has to be above 0"),
          HasSubstr("p.yaml:7: semaphore_latency.prior: "),
          HasSubstr("p.yaml:8: prefetch_window_fraction: "),
          HasSubstr(
              "p.yaml:9: sdk_engine_time.2.9.devices: unknown device 'oen'; nearest is 'one'"))));
}

TEST(FitPlan, NoiseIsAShare) {
  EXPECT_THAT([] { parse_fit_plan("devices: [one]\nnoise: 5\nfactors: {}\n", "p.yaml"); },
              ThrowsMessage<UserError>(HasSubstr("p.yaml:2: noise: has to be between 0 and 1")));
}

// Few numbers with a meaning: the promise of the project.
TEST(FitPlan, OfTheProjectHasAtMostEightNumbers) {
  const FitPlan plan =
      load_fit_plan(std::string(FORETELL_SOURCE_DIR) + "/calib/fit/neuron_factors.yaml");
  EXPECT_LE(plan.factors.size(), 8U);
  for (const FreeFactor& factor : plan.factors) EXPECT_NE(factor.meaning, "") << factor.name;
}

}  // namespace
}  // namespace foretell
