#include "model/app/study/arithmetic.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

StudyValue lookup(const std::string& name) {
  if (name == "bandwidth") return parse_study_value("820 GB/s");
  if (name == "cores") return parse_study_value("2");
  if (name == "dtype") return parse_study_value("int8-weights");
  if (name == "clock") return parse_study_value("2.8 GHz");
  throw UserError("unknown name '" + name + "'");
}

std::string text_of(const std::string& expression) {
  return to_study_text(evaluate(expression, lookup));
}

bool holds(const std::string& expression) { return evaluate(expression, lookup).number > 0; }

std::string complaint(const std::string& expression) {
  try {
    text_of(expression);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(Arithmetic, CarriesUnitsAlong) {
  EXPECT_EQ(text_of("${bandwidth} / 2"), "410 GB/s");
  EXPECT_EQ(text_of("${bandwidth} * 10 ms"), "8.2 GB");
  EXPECT_EQ(text_of("24 MiB / ${cores}"), "12 MiB");
  EXPECT_EQ(text_of("${bandwidth} / 205 GB/s"), "4");
  EXPECT_EQ(text_of("64 cycles / ${clock}"), "22.8571 ns");
  EXPECT_EQ(text_of("2 * (${cores} + 3) - 1"), "9");
  EXPECT_EQ(text_of("-${cores} - -5"), "3");
  EXPECT_EQ(text_of("0.76 USD/h * 1.5"), "1.14 USD/h");
  EXPECT_EQ(text_of("700 W * 2 s + 100 J"), "1.5 kJ");
}

TEST(Arithmetic, FunctionsAndPrecedence) {
  EXPECT_EQ(text_of("2 + 3 * 4"), "14");
  EXPECT_EQ(text_of("8 / 4 / 2"), "1");
  EXPECT_EQ(text_of("min(${bandwidth}, 1 TB/s)"), "820 GB/s");
  EXPECT_EQ(text_of("max(1, ${cores}, 1.5)"), "2");
  EXPECT_EQ(text_of("floor(2.9) + ceil(2.1) + round(2.5)"), "8");
  EXPECT_EQ(text_of("log2(1024) * sqrt(16)"), "40");
}

TEST(Arithmetic, Conditions) {
  EXPECT_TRUE(holds("${cores} == 2"));
  EXPECT_TRUE(holds("${bandwidth} <= 820 GB/s and ${bandwidth} >= 820 GB/s"));
  EXPECT_FALSE(holds("${bandwidth} < 820 GB/s"));
  EXPECT_TRUE(holds("0.1 + 0.2 == 0.3"));  // rounding of binary numbers makes no difference
  EXPECT_TRUE(holds("${dtype} == 'int8-weights' or ${cores} > 99"));
  EXPECT_TRUE(holds("not ${dtype} == 'bf16'"));
  EXPECT_TRUE(holds("1 < 2 and (3 > 4 or 5 != 6)"));
}

TEST(Arithmetic, MistakesSayWhatIsWrong) {
  EXPECT_THAT(complaint("${bandwidth} + 2"), HasSubstr("+ of a data rate"));
  EXPECT_THAT(complaint("${bandwidth} < 2 ms"), HasSubstr("< of a data rate"));
  EXPECT_THAT(complaint("2 GB/x"), HasSubstr("GB/x"));
  EXPECT_THAT(complaint("2 parsec"), HasSubstr("no such unit 'parsec'"));
  EXPECT_THAT(complaint("2 mm2"), HasSubstr("no such unit 'mm2'"));
  EXPECT_THAT(complaint("cores * 2"), HasSubstr("${cores}"));
  EXPECT_THAT(complaint("${coers}"), HasSubstr("unknown name 'coers'"));
  EXPECT_THAT(complaint("${cores"), HasSubstr("a name is written"));
  EXPECT_THAT(complaint("1 / 0"), HasSubstr("divides by zero"));
  EXPECT_THAT(complaint("(1 + 2"), HasSubstr("')' is missing"));
  EXPECT_THAT(complaint("1 +"), HasSubstr("ends too early"));
  EXPECT_THAT(complaint("1 2"), HasSubstr("'2' is not expected here"));
  EXPECT_THAT(complaint("7 % 2"), HasSubstr("'%' is not expected here"));
  EXPECT_THAT(complaint("cores(2)"), HasSubstr("'cores' is no function"));
  EXPECT_THAT(complaint(""), HasSubstr("nothing is stated"));
  EXPECT_THAT(complaint("${dtype} * 2"), HasSubstr("is a word"));
  EXPECT_THAT(complaint("${dtype} < 'x'"), HasSubstr("== and != only"));
  EXPECT_THAT(complaint("${bandwidth} * ${bandwidth}"), HasSubstr("has no unit"));
  EXPECT_THAT(complaint("sqrt(-1)"), HasSubstr("sqrt of -1"));
  EXPECT_THAT(complaint("'word"), HasSubstr("closing quote"));
  EXPECT_THAT(complaint(std::string(500, '(')), HasSubstr("nested too deeply"));
}

TEST(Arithmetic, NamesAreListedOnce) {
  EXPECT_THAT(names_in("${a} + ${ b.c } * ${a} - '$d'"), ElementsAre("a", "b.c"));
}

}  // namespace
}  // namespace foretell
