#include "model/forecast/request_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

TEST(ParseCount, WholeNumbersInAnyNotation) {
  EXPECT_EQ(parse_count("n", "8", 1, 10), 8);
  EXPECT_EQ(parse_count("n", " 8.0 ", 1, 10), 8);
  EXPECT_EQ(parse_count("n", "1e1", 1, 10), 10);
  EXPECT_EQ(parse_count("n", "1", 1, 10), 1);
}

TEST(ParseCount, EverythingElseSaysWhatIsAllowed) {
  for (const char* text :
       {"", "0", "11", "-1", "2.5", "8x", "x", "nan", "inf", "1e999", "0x8", "8,0"}) {
    EXPECT_THAT(message_of<UserError>([&] { parse_count("--batch", text, 1, 10); }),
                HasSubstr("' is not allowed; it must be a whole number from 1 to 10"))
        << text;
  }
}

TEST(ParsePositive, BothEnds) {
  EXPECT_EQ(parse_positive("n", "1.99", 4), 1.99);
  EXPECT_EQ(parse_positive("n", "4", 4), 4);
  for (const char* text : {"0", "-1", "4.01", "nan", "inf", ""}) {
    EXPECT_THROW(parse_positive("n", text, 4), UserError) << text;
  }
}

TEST(CountFields, SetAndGetAgreeAndRangesFitTheirType) {
  for (const CountField& field : count_fields()) {
    Request request;
    field.set(request, field.high);
    EXPECT_EQ(field.get(request), field.high) << field.option;
  }
  EXPECT_THROW(find_count_field("bach"), InternalError);
}

TEST(Choices, ArePartOfTheirListOrNameTheNearest) {
  const ChoiceField& kv = choice_fields().front();
  EXPECT_EQ(parse_choice(kv, " exact "), "exact");
  EXPECT_THAT(message_of<UserError>([&] { parse_choice(kv, "exat"); }),
              testing::HasSubstr("unknown kv 'exat'; nearest is 'exact'"));
  for (const ChoiceField& field : choice_fields()) {
    for (const std::string& choice : field.choices) EXPECT_EQ(parse_choice(field, choice), choice);
  }
}

}  // namespace
}  // namespace foretell
