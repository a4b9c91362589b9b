#include "model/config/unit_text.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// What the user reads when `read` refuses the text.
template <class Read>
std::string unit_message(const Read& read) {
  try {
    read();
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

std::string rate_message(std::string_view text) {
  return unit_message([&] { parse_quantity<BytesPerSecond>(text); });
}

TEST(ParseQuantity, DecimalAndBinaryPrefixesDiffer) {
  EXPECT_EQ(parse_quantity<BytesPerSecond>("820 GB/s").value(), 820e9);
  EXPECT_EQ(parse_quantity<BytesPerSecond>("820 GiB/s").value(), 820.0 * 1073741824);
  EXPECT_EQ(parse_quantity<Bytes>("24 MiB").value(), 24.0 * 1048576);
  EXPECT_EQ(parse_quantity<Bytes>("24 MB").value(), 24e6);
}

TEST(ParseQuantity, BitsAreEighthsOfBytes) {
  EXPECT_EQ(parse_quantity<BytesPerSecond>("100 Gbit/s"),
            parse_quantity<BytesPerSecond>("12.5 GB/s"));
}

TEST(ParseQuantity, ReadsEveryDimension) {
  EXPECT_DOUBLE_EQ(parse_quantity<Seconds>("146 ns").value(), 146e-9);
  EXPECT_DOUBLE_EQ(parse_quantity<Hertz>("2.8 GHz").value(), 2.8e9);
  EXPECT_DOUBLE_EQ(parse_quantity<Cycles>("64 cycles").value(), 64);
  EXPECT_DOUBLE_EQ(parse_quantity<FlopsPerSecond>("190 TFLOP/s").value(), 190e12);
  EXPECT_DOUBLE_EQ(parse_quantity<Flops>("8 GFLOP").value(), 8e9);
  EXPECT_DOUBLE_EQ(parse_quantity<UsdPerSecond>("0.76 USD/h").value(), 0.76 / 3600);
  EXPECT_DOUBLE_EQ(parse_quantity<Watts>("0.7 kW").value(), 700);
  EXPECT_DOUBLE_EQ(parse_quantity<Joules>("2 kWh").value(), 7.2e6);
  EXPECT_DOUBLE_EQ(parse_quantity<BytesPerCycle>("64 B/cycle").value(), 64);
  EXPECT_DOUBLE_EQ(parse_quantity<double>("0.92"), 0.92);
}

TEST(ParseQuantity, WhiteSpaceIsFree) {
  EXPECT_EQ(parse_quantity<BytesPerSecond>("1.6TB/s").value(), 1.6e12);
  EXPECT_EQ(parse_quantity<BytesPerSecond>("  1.6   TB/s ").value(), 1.6e12);
}

TEST(ParseQuantity, WithoutUnitSaysWhatToWrite) {
  EXPECT_THAT(
      rate_message("820"),
      AllOf(HasSubstr("'820' has no unit; write for example '820 GB/s'"), HasSubstr("GiB/s")));
}

TEST(ParseQuantity, WrongDimensionIsNamed) {
  EXPECT_EQ(rate_message("820 GB"),
            "'820 GB' is a data size; expected a data rate such as '820 GB/s'");
  EXPECT_EQ(unit_message([] { parse_quantity<Seconds>("64 cycles"); }),
            "'64 cycles' is a cycle count; expected a time such as '146 ns'");
  EXPECT_EQ(unit_message([] { parse_quantity<Seconds>("1 J"); }),
            "'1 J' is an amount of energy; expected a time such as '146 ns'");
}

TEST(ParseQuantity, UnknownUnitNamesTheNearest) {
  EXPECT_THAT(
      rate_message("820 gb/s"),
      HasSubstr("'820 gb/s': unknown unit 'gb/s'; nearest is 'GB/s'; units of a data rate"));
  EXPECT_THAT(rate_message("1,000 GB/s"), HasSubstr("unknown unit ',000 GB/s'"));
}

TEST(ParseQuantity, GbpsAreBitsAndNotBytes) {
  EXPECT_THAT(rate_message("100 Gbps"), HasSubstr("nearest is 'Gbit/s'"));
  EXPECT_THAT(rate_message("100 GBps"), HasSubstr("nearest is 'GB/s'"));
}

TEST(ParseQuantity, RefusesWhatIsNoFiniteNumber) {
  EXPECT_EQ(rate_message(""), "the value is empty");
  EXPECT_EQ(rate_message("  "), "the value is empty");
  EXPECT_EQ(rate_message("fast"), "'fast' is not a number");
  EXPECT_EQ(rate_message("nan GB/s"), "'nan GB/s' is not a finite number");
  EXPECT_EQ(rate_message("-inf GB/s"), "'-inf GB/s' is not a finite number");
  EXPECT_EQ(rate_message("1e999 GB/s"), "'1e999 GB/s' is too large or too small for a number");
  EXPECT_EQ(rate_message("1e308 GB/s"), "'1e308 GB/s' is too large for a number");
}

TEST(ParseQuantity, ANumberWithoutDimensionHasNoUnit) {
  EXPECT_EQ(unit_message([] { parse_quantity<double>("92 %"); }),
            "'92 %' ends in '%'; expected a plain number");
}

TEST(ParseInteger, WholeNumbersOnly) {
  EXPECT_EQ(parse_integer(" 16 "), 16);
  EXPECT_EQ(parse_integer("-1"), -1);
  EXPECT_EQ(parse_integer("1e3"), 1000);
  EXPECT_EQ(unit_message([] { parse_integer("2.5"); }), "'2.5' is not a whole number");
  EXPECT_EQ(unit_message([] { parse_integer("2 GB"); }),
            "'2 GB' ends in 'GB'; expected a plain number");
}

TEST(ParseInteger, StopsWhereIntegersAreNoLongerExact) {
  EXPECT_EQ(parse_integer("9007199254740992"), 9007199254740992);
  EXPECT_EQ(unit_message([] { parse_integer("9007199254740994"); }),
            "'9007199254740994' is not a whole number");
}

TEST(FormatQuantity, PicksTheUnitThatReadsBest) {
  EXPECT_EQ(format_quantity(BytesPerSecond(820e9)), "820 GB/s");
  EXPECT_EQ(format_quantity(BytesPerSecond(1.6e12)), "1.6 TB/s");
  EXPECT_EQ(format_quantity(Bytes(25165824)), "24 MiB");
  EXPECT_EQ(format_quantity(Hertz(1.12e9)), "1.12 GHz");
  EXPECT_EQ(format_quantity(Seconds(146e-9)), "146 ns");
  EXPECT_EQ(format_quantity(Seconds(0)), "0 s");
  EXPECT_EQ(format_quantity(Bytes(2052)), "2052 B");
  EXPECT_EQ(format_quantity(BytesPerSecond(1e15)), "1000 TB/s");
  EXPECT_EQ(format_quantity(BytesPerSecond(15e9 / 8)), "15 Gbit/s");
  EXPECT_EQ(format_quantity(0.92, Dimension{}), "0.92");
}

TEST(FormatQuantity, WhatItWritesIsReadBack) {
  for (const double value : {1.0, 3.2e9, 17e9, 820e9, 880468295680.0, 1e-3, 12345678.0}) {
    const auto back = parse_quantity<BytesPerSecond>(format_quantity(BytesPerSecond(value)));
    EXPECT_NEAR(back.value(), value, 1e-11 * value);
  }
}

TEST(FormatQuantity, RefusesNotANumber) {
  EXPECT_THROW(format_quantity(Seconds(0) / 0.0), InternalError);
}

TEST(Describe, ListsTheUnits) {
  EXPECT_EQ(describe(dimension_of<Hertz>::value), "frequency (Hz, kHz, MHz, GHz)");
  EXPECT_EQ(describe(Dimension{}), "number");
}

}  // namespace
}  // namespace foretell
