#include "model/program/file/stated_limits.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "model/program/file/program_file.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

constexpr StatedLimits kMachine{132, BytesPerSecond(3.35e12), BytesPerSecond(450e9)};

std::string refusal_of(const std::string& sections) {
  ProgramFileOptions options;
  options.stated = kMachine;
  try {
    parse_program("program: p\n" + sections, "x.yaml", options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

std::string of_grid(const std::string& keys) {
  return refusal_of("grids:\n  s:\n    - {grid: g, " + keys + "}\n");
}
std::string of_exchange(const std::string& keys) {
  return refusal_of("exchanges:\n  s:\n    - {exchange: e, message: 1 MB, " + keys + "}\n");
}

TEST(StatedLimits, WhatTheMachineHasMayBeStated) {
  EXPECT_EQ(of_grid("dram: 1 GB, dram_rate: 3.35 TB/s"), "");
  EXPECT_EQ(of_grid("blocks: 132, block_time: 6 us, tensor: 6 us"), "");
  EXPECT_EQ(of_exchange("rate: 450 GB/s, sms: 132"), "");
}

TEST(StatedLimits, RatesAboveThoseOfTheMachineAreRefused) {
  EXPECT_THAT(of_grid("dram: 1 GB, dram_rate: 100 TB/s"),
              HasSubstr("x.yaml:4: s[0] g: dram_rate is 100 TB/s; the memory of this machine "
                        "carries 3.35 TB/s at most"));
  EXPECT_THAT(of_exchange("rate: 451 GB/s"), HasSubstr("carries 450 GB/s at most"));
  EXPECT_THAT(of_exchange("rate: 1 GB/s, sms: 133"), HasSubstr("holds 133 SMs; a GPU has 132"));
  EXPECT_THAT(refusal_of("loops:\n  s:\n    - {loop: l, dram: 1 MB, core_rate: 1 GB/s, "
                         "dram_rate: 4 TB/s}\n"),
              HasSubstr("dram_rate is 4 TB/s"));
}

TEST(StatedLimits, APipeIsNotBusyLongerThanItsGridLasts) {
  EXPECT_THAT(of_grid("blocks: 133, block_time: 6 us, tensor: 13 us"),
              HasSubstr("tensor is 13 us; a pipe is busy no longer than its grid lasts, 12 us"));
}

TEST(StatedLimits, AProgramLastsNoLongerThanACallIsCounted) {
  EXPECT_THAT(of_grid("block_time: 1e5 s"), HasSubstr("lasts 100000 s up to here"));
  EXPECT_THAT(of_grid("blocks: 10000000000000, block_time: 6 us"), HasSubstr("the most is 100 s"));
  EXPECT_THAT(of_grid("dram: 1e17 B, dram_rate: 2.9 TB/s"), HasSubstr("the most is 100 s"));
  EXPECT_THAT(refusal_of("host:\n  s:\n    - {call: a, time: 60 s}\n    - {call: b, time: 60 s}\n"),
              HasSubstr("x.yaml:5: s[1] b: the program lasts 120 s up to here"));
}

TEST(StatedLimits, WithoutLimitsOnlyTheTimeCounts) {
  EXPECT_NO_THROW(parse_program(
      "program: p\ngrids: {s: [{grid: g, dram: 1 GB, dram_rate: 1e6 TB/s}]}", "x.yaml"));
}

}  // namespace
}  // namespace foretell
