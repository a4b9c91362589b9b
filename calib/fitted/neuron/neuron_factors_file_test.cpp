#include "calib/fitted/neuron/neuron_factors_file.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

std::string factors(const std::string& first, const std::string& more = "") {
  return "device: inferentia2\nsplit: none\ntables:\n  - table: networks\n    fitted_on: rows\n"
         "    factors:\n      dma_rate_fraction: " +
         first +
         "\n      call_overhead: {value: 225 us, interval80: [200 us, 250 us]}\n"
         "      prefetch_window_fraction: {value: 0.4, interval80: [0.3, 0.5]}\n"
         "      semaphore_latency: {value: 55 ns, interval80: [0 ns, 100 ns]}\n"
         "      clock_derate: {value: 1.12, interval80: [1.0, 1.2]}\n"
         "      prefill_overhead: {value: 17 ms, interval80: [15 ms, 19 ms]}\n"
         "      decode_dma_rate_fraction: {value: 0.96, interval80: [0.9, 1]}\n"
         "      decode_window_fraction: {value: 0.4, interval80: [0.3, 0.5]}\n"
         "      hop_latency: {value: 1.27 us, interval80: [1.23 us, 1.31 us]}\n" +
         more;
}

std::string message(const std::string& text) {
  try {
    parse_factors(text, "f.yaml");
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(FactorsFile, ReadsValuesIntervalsAndSource) {
  const FactorsFile file = parse_factors(
      factors("{value: 0.92, interval80: [0.9, 0.95], why: decode rows}",
              "      sdk_engine_time:\n        \"2.9\": {value: 1.15, interval80: [1.1, 1.2]}\n"),
      "f.yaml");
  EXPECT_EQ(file.device, "inferentia2");
  EXPECT_EQ(file.status, "fitted");
  EXPECT_EQ(file.factors.dma_rate_fraction, 0.92);
  EXPECT_DOUBLE_EQ(file.factors.call_overhead.value(), 225e-6);
  EXPECT_EQ(file.factors.sdk_engine_time.at("2.9"), 1.15);
  EXPECT_EQ(file.provenance.at("dma_rate_fraction").interval80, "0.9 .. 0.95");
  EXPECT_EQ(file.provenance.at("dma_rate_fraction").fitted_on, "decode rows");
  EXPECT_EQ(file.provenance.at("call_overhead").fitted_on, "rows");
  EXPECT_THAT(file.id, ::testing::MatchesRegex("inferentia2@[0-9a-f]{16}"));
}

TEST(FactorsFile, AValueWithoutAnIntervalIsRead) {
  EXPECT_EQ(message(factors("{value: 0.92}")), "accepted");
  EXPECT_EQ(
      parse_factors(factors("{value: 0.92}"), "f").provenance.at("dma_rate_fraction").interval80,
      "");
}

TEST(FactorsFile, IntervalsAreTwoAllowedValuesInOrder) {
  EXPECT_THAT(message(factors("{value: 0.92, interval80: [0.9]}")),
              HasSubstr("expected two values"));
  EXPECT_THAT(message(factors("{value: 0.92, interval80: [0.95, 0.9]}")),
              HasSubstr("the low end is above the high end"));
  EXPECT_THAT(message(factors("{value: 0.92, interval80: [0.9, 9]}")),
              HasSubstr("'9' is outside 0.01 .. 2"));
}

TEST(FactorsFile, BadValuesAndKeys) {
  EXPECT_THAT(message(factors("{value: 92 %}")), HasSubstr("ends in '%'"));
  EXPECT_THAT(message(factors("{val: 0.9}")), HasSubstr("'value' is missing"));
  EXPECT_THAT(message(factors("0.92")), HasSubstr("expected a mapping"));
  EXPECT_THAT(message(factors("{value: 0.9, status: x}")), HasSubstr("status: no such key"));
  EXPECT_THAT(message(factors("{value: 0.9}", "      clock_rate: {value: 1}\n")),
              HasSubstr("f.yaml:16: clock_rate: no such factor; nearest is 'clock_derate'"));
  EXPECT_THAT(message(factors("{value: 0.9}", "      sdk_engine_time: {x: {value: 1}}\n")),
              HasSubstr("'x' is no SDK version"));
  EXPECT_THAT(message("device: x\n"), HasSubstr("'split' is missing"));
}

}  // namespace
}  // namespace foretell
