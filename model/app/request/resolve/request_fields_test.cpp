#include "model/app/request/resolve/request_fields.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "model/base/errors.hpp"
#include "reports/record/testing/example_record.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

std::string set_key_of(std::string option) {
  std::replace(option.begin(), option.end(), '-', '_');
  return option;
}

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

TEST(RequestFields, CountsAreSetAndReadWithinTheirRange) {
  for (const RequestField& field : request_fields()) {
    if (field.kind() != FieldKind::kCount) continue;
    Request request;
    set_field(request, field, field.option, std::to_string(field.high));
    EXPECT_EQ(count_of(field, request), field.high) << field.option;
    EXPECT_THROW(set_field(request, field, field.option, std::to_string(field.high + 1)), UserError)
        << field.option;
  }
  EXPECT_THROW(request_field("bach"), InternalError);
}

TEST(RequestFields, WordsArePartOfTheirListOrNameTheNearest) {
  const RequestField& kv = request_field("kv");
  EXPECT_EQ(parse_choice(kv, " exact "), "exact");
  EXPECT_THAT(message_of<UserError>([&] { parse_choice(kv, "exat"); }),
              testing::HasSubstr("unknown kv 'exat'; nearest is 'exact'"));
  for (const RequestField& field : request_fields()) {
    for (const std::string& choice : field.choices) EXPECT_EQ(parse_choice(field, choice), choice);
  }
}

// Some text that is right for the field.
std::string good_text(const RequestField& field) {
  switch (field.kind()) {
    case FieldKind::kCount:
      return "3";
    case FieldKind::kNumber:
      return "2.5";
    case FieldKind::kFlag:
      return "yes";
    case FieldKind::kText:
      return field.choices.empty() ? "1.2" : field.choices.back();
    case FieldKind::kPairs:
      return "a=1; b=0";
  }
  return "";
}

TEST(RequestFields, EachOneIsSetByItsKeySaidAndKeptInARecord) {
  for (const std::string& key : request_keys()) {
    for (const RequestField& field : request_fields()) {
      const std::string option = field.option;
      if (option.empty() || option.size() != key.size() || set_key_of(option) != key) continue;
      const std::string text = option == "dim" ? "a=1; b=2" : good_text(field);
      Request request;
      request.batch = 0;
      ASSERT_TRUE(set_key(request, key, text)) << key;
      EXPECT_TRUE(is_stated(field, request)) << key;
      EXPECT_EQ(cell_of(field, request), text) << key;
      EXPECT_THAT(request_json(request), HasSubstr("\"" + key + "\":")) << key;
      EXPECT_NE(scenario_words(request, ScenarioWords::kAll), "") << key;
      RunRecord record = example_record();
      record.context.scenario = request;
      const RunRecord back = run_record_from_json(to_json(record), "test");
      EXPECT_EQ(cell_of(field, back.context.scenario), text) << key;
      Request different;
      different.batch = 0;
      EXPECT_NE(request_json(request), request_json(different)) << key;
    }
  }
}

TEST(RequestFields, PairsSayWhatIsWrong) {
  const auto error = [](const char* key, const char* text) {
    Request request;
    return message_of<UserError>([&] { set_key(request, key, text); });
  };
  EXPECT_THAT(error("branch", "a"), HasSubstr("--branch: 'a' is not allowed; it must be NAME=PRO"));
  EXPECT_THAT(error("branch", "a=2"), HasSubstr("--branch a: '2' is not allowed; a probability"));
  EXPECT_THAT(error("branch", "a=1;a=0"), HasSubstr("--branch a: is given twice"));
  EXPECT_THAT(error("trips", "a=1000001"), HasSubstr("--trips a"));
  EXPECT_THAT(error("dim", "a=0"), HasSubstr("--dim a"));
  EXPECT_THAT(error("exact", "maybe"), HasSubstr("exact: 'maybe' is not allowed"));
  Request request;
  EXPECT_FALSE(set_key(request, "bach", "1"));
}

}  // namespace
}  // namespace foretell
