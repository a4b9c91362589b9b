#include "calib/measurements/measurement.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calib/measurements/testing/example_measurement.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

// The example with one piece of its text replaced.
std::string line_with(const std::string& piece, const std::string& by) {
  std::string line = to_line(example_measurement());
  const std::size_t at = line.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return line.replace(at, piece.size(), by);
}

void expect_refused(const std::string& piece, const std::string& by, const std::string& message) {
  const std::string line = line_with(piece, by);
  EXPECT_THAT([&] { parse_measurement(line, "m.jsonl:3"); },
              ThrowsMessage<UserError>(HasSubstr("m.jsonl:3: " + message)))
      << line;
}

TEST(Measurement, ReadsBackWhatItWrites) {
  const Measurement example = example_measurement();
  const Measurement read = parse_measurement(to_line(example), "");
  EXPECT_EQ(to_line(read), to_line(example));
  EXPECT_EQ(read.shape, example.shape);
  EXPECT_EQ(read.states, example.states);
  EXPECT_EQ(read.readings, example.readings);
  EXPECT_EQ(read.provenance.software, example.provenance.software);
}

TEST(Measurement, FieldsStandInTheOrderOfTheSchema) {
  EXPECT_THAT(
      to_line(example_measurement()),
      testing::StartsWith(
          R"({"schema":"foretell.measurement/1","device":"h200-sxm","op":"gemm","dtype":"bf16",)"
          R"("m":64,"n":256,"k":128,"latency_us":12.5,"spread":0.01,"repeats":21,"conditions":)"));
}

TEST(Measurement, AKeyTellsShapesStatesAndThreadsApartButNoReadings) {
  const Measurement example = example_measurement();
  Measurement other = example;
  other.latency_us *= 2;
  other.readings["clock_mhz"] = 100;
  EXPECT_EQ(measurement_key(other), measurement_key(example));
  other.shape[0].second = 65;
  EXPECT_NE(measurement_key(other), measurement_key(example));
  other = example;
  other.states["weights"] = "warm";
  EXPECT_NE(measurement_key(other), measurement_key(example));
  other = example;
  other.readings["threads"] = 4;
  EXPECT_NE(measurement_key(other), measurement_key(example));
}

TEST(Measurement, WhatCannotBeIsRefusedByName) {
  expect_refused("measurement/1", "measurement/9", "schema: 'foretell.measurement/9' is not known");
  expect_refused("\"latency_us\":12.5", "\"latency_us\":0", "latency_us: a measured time has to");
  expect_refused("\"latency_us\":12.5", "\"latency_us\":-1", "latency_us: a measured time has to");
  expect_refused("\"latency_us\":12.5", "\"latency_us\":\"12\"", "latency_us: expected a number");
  expect_refused("\"m\":64", "\"m\":-64", "m: expected a whole number from 0; got -64");
  expect_refused("\"m\":64", "\"m\":6.5", "m: expected a whole number");
  expect_refused("\"spread\":0.01", "\"spread\":-1", "spread: has to be 0 or more");
  expect_refused("\"repeats\":21", "\"repeats\":0", "repeats: has to be 1 or more");
  expect_refused("h200-sxm", "H200 SXM", "device: 'H200 SXM': expected lower-case letters");
  expect_refused("\"graph\"", "[1]", "conditions: launch: expected a text, a number or null");
}

TEST(Measurement, ProvenanceIsRequired) {
  expect_refused("\"provenance\"", "\"provenances\"", "provenances: expected a whole number");
  expect_refused("\"source\"", "\"sauce\"", "provenance: source: is missing");
  expect_refused("\"NVIDIA H200\"", "\"\"", "provenance: machine: expected a text");
  expect_refused("2026-01-31", "2026-02-30", "provenance: date: '2026-02-30' is no date");
}

TEST(Measurement, WhatIsNoRecordSaysSo) {
  EXPECT_THAT([] { parse_measurement("{", "a:1"); },
              ThrowsMessage<UserError>(HasSubstr("a:1: is no JSON object")));
  EXPECT_THAT([] { parse_measurement("[]", "a:1"); },
              ThrowsMessage<UserError>(HasSubstr("a:1: is no JSON object")));
}

TEST(Measurement, NothingWithoutATimeIsWritten) {
  Measurement example = example_measurement();
  example.latency_us = 0;
  EXPECT_THROW(to_line(example), InternalError);
}

TEST(Measurement, Dates) {
  EXPECT_TRUE(is_date("2024-02-29"));
  EXPECT_FALSE(is_date("2025-02-29"));
  EXPECT_FALSE(is_date("2025-13-01"));
  EXPECT_FALSE(is_date("2025-1-1"));
  EXPECT_FALSE(is_date("31.01.2025"));
}

}  // namespace
}  // namespace foretell
