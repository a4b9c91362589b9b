#include "calib/fit/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "calib/fitted/gpu/gemm_factors.hpp"
#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

const char* const kPlanOfProducts = FORETELL_SOURCE_DIR "/calib/fit/gpu_gemm_plan.yaml";

std::string plan_with(const std::string& factors) {
  return "noise: 0.05\nstarts:\n- devices: [one, two]\n  factors:\n" + factors;
}

FitPlan parse(const std::string& text) {
  NeuronFactors factors;
  FieldList list;
  fields(list, factors);
  return parse_fit_plan(text, "p.yaml", {"one", "", ""}, list);
}

constexpr const char* kOverhead =
    "    call_overhead: {prior: 28 us, width: 0.2 ms, low: 0 us, high: 2 ms, why: w}\n";

TEST(FitPlan, ValuesCarryTheUnitOfTheParameter) {
  const FitPlan plan = parse(plan_with(kOverhead));
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
  const FitPlan plan = parse(
      plan_with("    clock_derate: {prior: 1, width: 0.1, low: 0.8, high: 2, devices: [two], why: "
                "w}\n"));
  EXPECT_FALSE(plan.factors.front().applies_to("one"));
  EXPECT_TRUE(plan.factors.front().applies_to("two"));
}

TEST(FitPlan, NamesEveryMistakeAtOnce) {
  const std::string text = plan_with(
      "    call_overheat: {prior: 28 us, width: 1 us, low: 0 us, high: 2 ms, why: w}\n"
      "    clock_derate: {prior: 3, width: 0.1, low: 0.8, high: 2, why: w}\n"
      "    dma_rate_fraction: {prior: 1, width: 0, low: 0.8, high: 1.2, why: w}\n"
      "    semaphore_latency: {prior: 1, width: 1 ns, low: 0 ns, high: 2 ns, why: w}\n"
      "    prefetch_window_fraction: {prior: 1, width: 1, low: 0.1, high: 1.5, why: w}\n"
      "    sdk_engine_time.2.9: {prior: 1, width: 1, low: 0.5, high: 2, devices: [oen], why: w}\n");
  EXPECT_THAT(
      [&] { parse(text); },
      ThrowsMessage<UserError>(AllOf(
          HasSubstr("p.yaml:5: call_overheat"), HasSubstr("nearest is 'call_overhead'"),
          HasSubstr("p.yaml:6: clock_derate: the prior has to lie between low and high"),
          HasSubstr("p.yaml:7: dma_rate_fraction.width: has to be above 0"),
          HasSubstr("p.yaml:8: semaphore_latency.prior: "),
          HasSubstr("p.yaml:9: prefetch_window_fraction: "),
          HasSubstr(
              "p.yaml:10: sdk_engine_time.2.9.devices: unknown device 'oen'; nearest is 'one'"))));
}

TEST(FitPlan, NoiseIsAShare) {
  EXPECT_THAT([] { parse("noise: 5\nstarts: []\n"); },
              ThrowsMessage<UserError>(HasSubstr("p.yaml:1: noise: has to be between 0 and 1")));
}

TEST(FitPlan, AStartIsWrittenIntoItsFieldAndABeliefNeedsNoise) {
  NeuronFactors factors;
  FieldList list;
  fields(list, factors);
  const std::string start = "  call_overhead: 30 us\n";
  const std::string text = "starts:\n- tables: ['* one']\n  fixed: [clock_derate]\n  factors:\n  ";
  const FitPlan plan = parse_fit_plan(text + start, "p.yaml", {"x", "y", "table one"}, list);
  EXPECT_TRUE(plan.factors.empty());
  EXPECT_EQ(plan.fixed, std::vector<std::string>({"clock_derate"}));
  EXPECT_DOUBLE_EQ(factors.call_overhead.value(), 30e-6);
  EXPECT_THAT(
      [&] {
        parse_fit_plan(text + start, "p.yaml", {"x", "y", "table two"}, list);
      },
      ThrowsMessage<UserError>(HasSubstr("p.yaml: no start for table two on y")));
  EXPECT_THAT(
      [&] { parse(std::string("starts:\n- factors:\n  ") + kOverhead); },
      ThrowsMessage<UserError>(HasSubstr("call_overhead: a belief needs the plan's noise")));
}

TEST(FitPlan, KeysAreThoseOfItsKind) {
  NeuronFactors factors;
  FieldList list;
  fields(list, factors);
  const std::string start = "starts:\n- factors: {call_overhead: 30 us}\n";
  for (const char* key : {"measured: tpot_ms\n", "on_top: true\n"}) {
    EXPECT_THAT(
        [&] {
          parse_fit_plan(key + start, "p.yaml", {"x", "hopper", "t"}, list);
        },
        ThrowsMessage<UserError>(AllOf(HasSubstr("p.yaml:1: "), HasSubstr("sharing"))))
        << key;
    EXPECT_NO_THROW(parse_fit_plan(key + start, "p.yaml", {"x", "", ""}, list)) << key;
  }
  EXPECT_THAT([&] { parse("sharing: []\n" + start); },
              ThrowsMessage<UserError>(HasSubstr("p.yaml:1: sharing")));
}

TEST(FitPlan, NoTypeOfProductsHasMoreThanTwelveFreeFactors) {
  for (const char* architecture : {"ampere", "hopper", "blackwell"}) {
    for (const char* type : {"bf16", "int8_sq", "int8_wo"}) {
      GemmFactors factors;
      FieldList list;
      fields(list, factors);
      const std::string table = std::string("trtllm ") + type;
      const auto fixed = load_fit_plan(kPlanOfProducts, {"", architecture, table}, list).fixed;
      const auto above_zero = static_cast<std::size_t>(
          std::count_if(list.all().begin(), list.all().end(),
                        [](const Field& field) { return field.number() > 0; }));
      EXPECT_LE(above_zero - fixed.size(), 12U) << architecture << " " << type;
    }
  }
}

TEST(FitPlan, AnArchitectureWithoutAStartIsNamed) {
  GemmFactors factors;
  FieldList list;
  fields(list, factors);
  EXPECT_THAT(
      [&] {
        load_fit_plan(kPlanOfProducts, {"", "volta", "trtllm bf16"}, list);
      },
      testing::ThrowsMessage<UserError>(testing::HasSubstr("no start for trtllm bf16 on volta")));
}

TEST(FitPlan, EntriesOfPlansNameTablesByPatterns) {
  const Node list = parse_document("[trtllm context*, '* bf16']", "plan.yaml");
  for (const char* table : {"trtllm context fp8 bf16", "trtllm context", "vllm bf16"}) {
    EXPECT_TRUE(plan_names(&list, table)) << table;
  }
  for (const char* table : {"trtllm", "vllm context fp8", "vllm bf16_block", "bf16"}) {
    EXPECT_FALSE(plan_names(&list, table)) << table;
  }
  EXPECT_TRUE(plan_names(nullptr, "anything"));
}

TEST(FitPlan, NamesItsDevices) {
  EXPECT_EQ(planned_devices(FORETELL_SOURCE_DIR "/calib/fit/neuron_plan.yaml"),
            std::vector<std::string>({"inferentia2", "trainium1"}));
  EXPECT_TRUE(planned_devices(kPlanOfProducts).empty());
}

// Few numbers with a meaning: the promise of the project.
TEST(FitPlan, OfTheProjectHasAtMostEightNumbers) {
  NeuronFactors factors;
  FieldList list;
  fields(list, factors);
  const FitPlan plan = load_fit_plan(FORETELL_SOURCE_DIR "/calib/fit/neuron_plan.yaml",
                                     {"inferentia2", "", ""}, list);
  EXPECT_LE(plan.factors.size(), 8U);
  for (const FreeFactor& factor : plan.factors) EXPECT_NE(factor.meaning, "") << factor.name;
}

}  // namespace
}  // namespace foretell
