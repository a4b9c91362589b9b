#include "calib/fit/factors_yaml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calib/fit/testing/rate_problem.hpp"
#include "hw/spec/factors_file.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::Not;

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

FactorsText text_for(const std::string& device) {
  return {device, "rows of \"a\" and b", "fit on a", {"Rows fit: 12."}};
}

TEST(FactorsYaml, ReadsBackAsAFittedFile) {
  const FactorsFile file = parse_factors(factors_yaml(example(), text_for("one")), "one.yaml");
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
  const std::string text = factors_yaml(example(), text_for("one"));
  EXPECT_THAT(text, Not(HasSubstr("  clock_derate:")));
  EXPECT_DOUBLE_EQ(parse_factors(text, "one.yaml").factors.clock_derate, 1);
  const FactorsFile other = parse_factors(factors_yaml(example(), text_for("two")), "two.yaml");
  EXPECT_DOUBLE_EQ(other.factors.clock_derate, 1.123);
}

TEST(FactorsYaml, SaysWhatEachMeansAndWhatTradesOff) {
  const std::string text = factors_yaml(example(), text_for("one"));
  EXPECT_THAT(text, HasSubstr("# Meaning of call_overhead.\n  call_overhead:"));
  EXPECT_THAT(text, HasSubstr("# call_overhead and clock_derate trade off against each other: "
                              "correlation -0.91.\n"));
  EXPECT_THAT(text, HasSubstr("# Rows fit: 12.\n"));
}

}  // namespace
}  // namespace foretell
