#include "reports/render/si_format.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

TEST(SiFormat, ThreeDigitsAndTheFittingPrefix) {
  EXPECT_EQ(si_format(0.0169, "s"), "16.9 ms");
  EXPECT_EQ(si_format(1.4e9, "B"), "1.40 GB");
  EXPECT_EQ(si_format(945.1, "s"), "945 s");
  EXPECT_EQ(si_format(2.5e-7, "s"), "250 ns");
  EXPECT_EQ(si_format(-0.002, "s"), "-2.00 ms");
  EXPECT_EQ(si_format(12, ""), "12.0");
}

TEST(SiFormat, RoundingMovesToTheNextPrefix) {
  EXPECT_EQ(si_format(999.4, "B"), "999 B");
  EXPECT_EQ(si_format(999.6, "B"), "1.00 kB");
  EXPECT_EQ(si_format(0.9996e-3, "s"), "1.00 ms");
}

TEST(SiFormat, ZeroAndTheEndsOfTheScale) {
  EXPECT_EQ(si_format(0, "s"), "0 s");
  EXPECT_EQ(si_format(1e-12, "s"), "1.00 ps");
  EXPECT_EQ(si_format(1e-13, "s"), "1.00e-13 s");
  EXPECT_EQ(si_format(1e20, "B"), "100 EB");
  EXPECT_EQ(si_format(1e21, "B"), "1.00e+21 B");
}

TEST(SiFormat, WhatIsNoNumberIsRefused) {
  EXPECT_THROW(si_format(std::numeric_limits<double>::quiet_NaN(), "s"), InternalError);
  EXPECT_THROW(plain_format(std::numeric_limits<double>::infinity()), InternalError);
}

TEST(MemoryFormat, StepsOf1024) {
  EXPECT_EQ(memory_format(34359738368.0), "32.0 GiB");
  EXPECT_EQ(memory_format(1023), "1023 B");
  EXPECT_EQ(memory_format(1024), "1.00 KiB");
  EXPECT_EQ(memory_format(0), "0 B");
  EXPECT_EQ(memory_format(5e15), "4547 TiB");
}

TEST(PlainFormat, SignificantDigitsOnBothSidesOfOne) {
  EXPECT_EQ(plain_format(945.13, 4), "945.1");
  EXPECT_EQ(plain_format(0.2334), "0.233");
  EXPECT_EQ(plain_format(12345.6, 4), "12346");
  EXPECT_EQ(plain_format(999999, 4), "1.000e+06");
  EXPECT_EQ(plain_format(2e-5), "2.00e-05");
  EXPECT_EQ(plain_format(0), "0");
}

TEST(PercentFormat, SignOnlyWhenAsked) {
  EXPECT_EQ(percent_format(0.0412), "4.1 %");
  EXPECT_EQ(percent_format(0.0412, true), "+4.1 %");
  EXPECT_EQ(percent_format(-0.0412, true), "-4.1 %");
}

TEST(CountFormat, GroupsOfThree) {
  EXPECT_EQ(count_format(0), "0");
  EXPECT_EQ(count_format(999), "999");
  EXPECT_EQ(count_format(1000), "1,000");
  EXPECT_EQ(count_format(334092288), "334,092,288");
  EXPECT_EQ(count_format(-123456), "-123,456");
}

}  // namespace
}  // namespace foretell
