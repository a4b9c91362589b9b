#include "model/program/file/expression.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

const ExpressionNames kNames = {{{"tiles", 64}, {"reuse", 4}}, {"m", "k"}};

std::int64_t evaluate(const std::string& text, const std::vector<std::int64_t>& indices = {2, 5}) {
  return Expression::parse(text, kNames).value(indices);
}

std::string expression_message(const std::string& text) {
  try {
    evaluate(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Expression, KnowsThePrecedenceOfArithmetic) {
  EXPECT_EQ(evaluate("2 + 3 * 4"), 14);
  EXPECT_EQ(evaluate("(2 + 3) * 4"), 20);
  EXPECT_EQ(evaluate("20 - 3 - 2"), 15);
  EXPECT_EQ(evaluate("24 / 4 / 2"), 3);
  EXPECT_EQ(evaluate("17 % 8 * 2"), 2);
  EXPECT_EQ(evaluate("-3 + 10"), 7);
  EXPECT_EQ(evaluate("2 - -3"), 5);
  EXPECT_EQ(evaluate("-(tiles / reuse)"), -16);
}

TEST(Expression, IndicesTakeTheirValuesLate) {
  EXPECT_EQ(evaluate("k % 2 * reuse + m", {3, 5}), 7);
  EXPECT_EQ(evaluate("m + 2 * 3 * k", {1, 10}), 61);
  EXPECT_FALSE(Expression::parse("k", kNames).is_constant());
  EXPECT_FALSE(Expression::parse("2 * k", kNames).is_constant());
  EXPECT_TRUE(Expression::parse("2 * tiles", kNames).is_constant());
}

TEST(Expression, NumbersMayCarryABinaryUnit) {
  EXPECT_EQ(evaluate("2 KiB"), 2048);
  EXPECT_EQ(evaluate("3  MiB"), 3 << 20);
  EXPECT_EQ(evaluate("4 GiB / 2"), std::int64_t{2} << 30);
  EXPECT_EQ(evaluate("7 B"), 7);
}

TEST(Expression, SaysWhatIsWrong) {
  EXPECT_THAT(expression_message(""),
              testing::HasSubstr("nothing is stated; expected a whole number"));
  EXPECT_EQ(expression_message("2 +"), "'2 +' ends too early");
  EXPECT_THAT(expression_message("(2 + 3"), testing::HasSubstr("')' is missing at the end"));
  EXPECT_THAT(expression_message("2 ^ 3"), testing::HasSubstr("'^' is not expected here"));
  EXPECT_THAT(expression_message("2 < 3"), testing::HasSubstr("'<' is not expected here"));
  EXPECT_THAT(expression_message("${tiles}"), testing::HasSubstr("'tiles' is not expected here"));
  EXPECT_EQ(expression_message("1e12"), "'1e12' is not a whole number");
  EXPECT_EQ(expression_message("1.5"), "'1.5' is not a whole number");
  EXPECT_THAT(expression_message("2 GB"),
              testing::HasSubstr("no such unit 'GB'; there are B, KiB, MiB and GiB"));
  EXPECT_THAT(expression_message("tils"), testing::HasSubstr("nearest is 'tiles'"));
  EXPECT_THAT(expression_message("tiles / 7"), testing::HasSubstr("leaves a remainder"));
  EXPECT_EQ(expression_message("3 / (tiles - 64)"), "division by zero");
  EXPECT_THAT(expression_message("9223372036854775807 + 1"),
              testing::HasSubstr("has to fit 64 bits"));
  EXPECT_THAT(expression_message("99999999999999999999"), testing::HasSubstr("has to fit 64 bits"));
  EXPECT_THAT(expression_message("4 GiB * 4 GiB"), testing::HasSubstr("has to fit 64 bits"));
}

// Both sides of the largest number.
TEST(Expression, TheLargestNumberIsRepresented) {
  EXPECT_EQ(evaluate("9223372036854775807"), std::numeric_limits<std::int64_t>::max());
  EXPECT_THROW(evaluate("9223372036854775808"), UserError);
}

TEST(Expression, DeepNestingIsRefusedInsteadOfOverflowingTheStack) {
  EXPECT_EQ(evaluate(std::string(50, '(') + "1" + std::string(50, ')')), 1);
  EXPECT_THAT(expression_message(std::string(100000, '(')),
              testing::HasSubstr("nested too deeply"));
  EXPECT_THAT(expression_message(std::string(100000, '-') + "1"),
              testing::HasSubstr("nested too deeply"));
}

}  // namespace
}  // namespace foretell
