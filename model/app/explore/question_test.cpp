#include "model/app/explore/question.hpp"

#include <gmock/gmock.h>

#include "model/base/errors.hpp"
#include "reports/record/testing/message_of.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::string mistake(const std::string& command, const std::string& body) {
  return message_of<UserError>([&] { question_words(command, body); });
}

TEST(Question, BecomesWordsOfTheCommandLine) {
  EXPECT_THAT(
      question_words("run", R"({"options": [["on", "inf2.xlarge"], ["set", "a.b=1 GB/s"]]})"),
      ElementsAre("run", "--format=json", "-q", "--on=inf2.xlarge", "--set=a.b=1 GB/s"));
  EXPECT_THAT(question_words("explain", R"({"options": [["workload", "gpt2"]]})"),
              ElementsAre("explain", "--format=json", "-q", "--sensitivity", "--workload=gpt2"));
  EXPECT_THAT(question_words("serve", R"({"options": [["input-len", "512"]]})").back(),
              "--input-len=512");
}

// A value cannot become an option, and nothing can be written.
TEST(Question, CannotDoMoreThanAsk) {
  EXPECT_THAT(question_words("run", R"({"options": [["on", "--trace=/tmp/x"]]})").back(),
              "--on=--trace=/tmp/x");
  for (const char* option : {"trace", "output", "o", "store", "program", "factors", "format"}) {
    const std::string body = std::string(R"({"options": [[")") + option + R"(", "x"]]})";
    EXPECT_THAT(mistake("run", body), HasSubstr("unknown option")) << option;
  }
  EXPECT_THAT(mistake("report", R"({"options": [["on", "x"]]})"), HasSubstr("unknown question"));
}

TEST(Question, ABodyThatIsNoneSaysWhy) {
  EXPECT_THAT(mistake("run", "options"), HasSubstr("JSON object"));
  EXPECT_THAT(mistake("run", "[]"), HasSubstr("JSON object"));
  EXPECT_THAT(mistake("run", "{}"), HasSubstr("a list 'options'"));
  EXPECT_THAT(mistake("run", R"({"options": [["on", 1]]})"), HasSubstr("[name, text]"));
  EXPECT_THAT(mistake("run", R"({"options": [["onn", "a"]]})"), HasSubstr("nearest is 'on'"));
  EXPECT_THAT(message_of<UserError>([] { records_to_report(R"({"records": ["{"]})"); }),
              HasSubstr("not the text of a JSON object"));
  EXPECT_EQ(records_to_report(R"({"records": ["{\"a\":\n1}", "{}"]})"), "{\"a\":1}\n{}\n");
}

TEST(Question, ChoicesCannotEndTheirElement) {
  ExploreChoices choices;
  choices.workload = "</script><script>alert(1)";
  EXPECT_THAT(choices_json(choices), Not(HasSubstr("<")));
}

}  // namespace
}  // namespace foretell
