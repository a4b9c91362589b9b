#include "model/base/number_text.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

TEST(NumberText, WholeTextsAlone) {
  EXPECT_EQ(to_number("-2.5e3"), -2500);
  EXPECT_EQ(to_number("0"), 0);
  for (const char* text : {"", " 1", "1 ", "1x", "+1", "0x10", "inf", "nan", "1e999", "1,5", "-"})
    EXPECT_EQ(to_number(text), std::nullopt) << text;
}

TEST(NumberText, CountsAreDigits) {
  EXPECT_EQ(to_count("0128"), 128);
  EXPECT_EQ(to_count("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  for (const char* text : {"", "-1", "-0", "+1", "1.0", "1e3", " 1", "9223372036854775808"})
    EXPECT_EQ(to_count(text), std::nullopt) << text;
}

TEST(NumberText, WhatFollowsANumber) {
  const LeadingNumber number = leading_number("4.5 GB");
  EXPECT_TRUE(number.is_number && number.fits);
  EXPECT_EQ(number.value, 4.5);
  EXPECT_EQ(number.rest, " GB");
  EXPECT_FALSE(leading_number("GB").is_number);
  EXPECT_EQ(leading_number("GB").rest, "GB");
  EXPECT_TRUE(leading_number("1e999%").is_number);
  EXPECT_FALSE(leading_number("1e999%").fits);
  EXPECT_EQ(leading_number("1e999%").rest, "%");
}

TEST(NumberText, WhatTheProgramWroteIsANumber) {
  EXPECT_EQ(written_number("0.1"), 0.1);
  EXPECT_THROW(written_number("4 "), InternalError);
  EXPECT_THROW(written_number(""), InternalError);
}

TEST(NumberText, RoundsAsItPrints) {
  EXPECT_EQ(rounded_to(0.123456, 4), 0.1235);
  EXPECT_EQ(rounded_to(-98765, 2), -99000);
  EXPECT_EQ(rounded_to(7, 3), 7);
}

}  // namespace
}  // namespace foretell
