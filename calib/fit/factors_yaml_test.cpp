#include "calib/fit/factors_yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calib/fit/testing/rate_problem.hpp"
#include "calib/fitted/neuron/neuron_factors_file.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

FactorEstimate estimate(FreeFactor factor, double value, double low, double high) {
  return {std::move(factor), value, low, high, true, 0.2};
}

FitResult example() {
  FreeFactor overhead = free_factor("call_overhead", 28e-6, 200e-6, 0, 2e-3);
  overhead.dimension.time = 1;
  FreeFactor derate = free_factor("clock_derate", 1, 0.15, 0.8, 1.5);
  derate.devices = {"two"};
  overhead.devices = {"one", "two"};
  FitResult result;
  result.factors = {estimate(overhead, 223.456e-6, 200e-6, 250e-6),
                    estimate(derate, 1.1234567, 1.1, 1.15),
                    estimate(free_factor("sdk_engine_time.2.9", 1, 0.2, 0.5, 2), 1.2, 1.1, 1.3),
                    estimate(free_factor("sdk_engine_time.2.14", 1, 0.2, 0.5, 2), 1, 0.9, 1.1)};
  result.factors[3].identified = false;
  result.correlations = {{"call_overhead", "clock_derate", -0.91}};
  return result;
}

FitPlan plan_of(const FitResult& result) {
  FitPlan plan;
  plan.devices = {"one", "two"};
  for (const FactorEstimate& one : result.factors) plan.factors.push_back(one.factor);
  return plan;
}

std::string yaml_for(const std::string& device, const FactorsFile* so_far = nullptr) {
  const FitResult result = example();
  return factors_yaml(result, {device,
                               "rows of \"a\" and b",
                               "fit on a",
                               {"Rows fit: 12."},
                               carried_factors(plan_of(result), device, so_far)});
}

TEST(FactorsYaml, ReadsBackAsAFittedFile) {
  const FactorsFile file = parse_factors(yaml_for("one"), "one.yaml");
  EXPECT_EQ(file.device, "one");
  EXPECT_EQ(file.status, "fitted");
  EXPECT_EQ(file.fitted_on, "rows of \"a\" and b");
  EXPECT_EQ(file.split, "fit on a");
  EXPECT_DOUBLE_EQ(file.factors.call_overhead.value(), 223.5e-6);
  EXPECT_DOUBLE_EQ(file.factors.sdk_engine_time.at("2.9"), 1.2);
  EXPECT_EQ(file.provenance.at("call_overhead").interval80, "200 us .. 250 us");
  EXPECT_THAT(file.provenance.at("sdk_engine_time.2.14").fitted_on, HasSubstr("nothing"));
}

TEST(FactorsYaml, AFactorOfAnotherDeviceStaysNeutral) {
  const FactorsFile one = parse_factors(yaml_for("one"), "one.yaml");
  EXPECT_DOUBLE_EQ(one.factors.clock_derate, 1);
  EXPECT_EQ(one.provenance.at("clock_derate").interval80, "1 .. 1");
  EXPECT_DOUBLE_EQ(parse_factors(yaml_for("two"), "two.yaml").factors.clock_derate, 1.123);
}

// Another fit answers for them; this one may not lose them.
TEST(FactorsYaml, FactorsThatTheFitDoesNotFreeAreCarriedOver) {
  FactorsFile so_far = parse_factors(yaml_for("one"), "one.yaml");
  EXPECT_EQ(so_far.provenance.at("hop_latency").interval80, "");
  so_far.factors.hop_latency = Seconds(1.27e-6);
  so_far.provenance.at("hop_latency") = {"decode rows", "1.2 us .. 1.3 us", false};
  so_far.factors.sdk_batched_prefill_time["2.18.0"] = 1.32;
  so_far.provenance["sdk_batched_prefill_time.2.18.0"] = {"prefill rows", "", true};
  so_far.factors.call_overhead = Seconds(1);
  const FactorsFile file = parse_factors(yaml_for("one", &so_far), "one.yaml");
  EXPECT_DOUBLE_EQ(file.factors.hop_latency.value(), 1.27e-6);
  EXPECT_EQ(file.provenance.at("hop_latency").interval80, "1.2 us .. 1.3 us");
  EXPECT_EQ(file.provenance.at("hop_latency").fitted_on, "decode rows");
  EXPECT_DOUBLE_EQ(file.factors.sdk_batched_prefill_time.at("2.18.0"), 1.32);
  EXPECT_EQ(file.provenance.at("sdk_batched_prefill_time.2.18.0").interval80, "");
  EXPECT_FALSE(file.provenance.at("hop_latency").is_identified);
  EXPECT_DOUBLE_EQ(file.factors.call_overhead.value(), 223.5e-6);
}

TEST(FactorsYaml, SaysHowSureTheFitIsAndWhatTradesOff) {
  const FactorTable table = parse_factor_file(yaml_for("one"), "one.yaml").tables.at(0);
  EXPECT_THAT(table.evidence.trade_offs,
              testing::ElementsAre("call_overhead and clock_derate: -0.91"));
  EXPECT_THAT(table.evidence.residuals, testing::ElementsAre("Rows fit: 12."));
}

}  // namespace
}  // namespace foretell
