#include "model/config/entry_reader.hpp"

#include <gmock/gmock.h>

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<double> widths_of(const std::string& text) {
  const Node rule = parse_document(text, "kernels.yaml");
  std::vector<double> widths = {1};
  EntryReader reader(rule, "attention", {"when"});
  reader.numbers("head_widths", widths);
  reader.finish();
  return widths;
}

std::string refused(const std::string& text) {
  try {
    widths_of(text);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(EntryReader, AListOfNumbersAscends) {
  EXPECT_THAT(widths_of("head_widths: [64, 128, 256]"), ElementsAre(64, 128, 256));
  EXPECT_THAT(widths_of("when: {kernels: vllm}"), ElementsAre(1));
  EXPECT_THAT(refused("head_widths: [64, 32]"), HasSubstr("kernels.yaml:1: attention.head_widths"));
  EXPECT_THAT(refused("head_widths: [64, 64]"), HasSubstr("is not above the one before it"));
  EXPECT_THAT(refused("head_widths: [0]"), HasSubstr("is not above"));
  EXPECT_THAT(refused("head_widths: [wide]"), HasSubstr("head_widths"));
  EXPECT_THAT(refused("head_widths: 64"), HasSubstr("no list of numbers such as [64, 128, 256]"));
  EXPECT_THAT(refused("head_widths: []"), HasSubstr("no list of numbers"));
}

std::string limits_refused(const std::string& text) {
  const Node entry = parse_document(text, "limits.yaml");
  EntryReader reader(entry, "limits", {"why"});
  reader.require({"framework"});
  std::string framework;
  std::int64_t tokens = 0;
  std::vector<std::string> models;
  bool is_last = false;
  Bytes bytes;
  int kind = 0;
  try {
    reader.text("framework", framework);
    reader.whole("tokens", tokens, 1, 8);
    reader.texts("models", models);
    reader.flag("is_last", is_last);
    reader.quantity("bytes", bytes);
    reader.word("kind", {{"dense", 1}, {"sparse", 2}}, kind);
    reader.finish();
  } catch (const UserError& error) {
    return error.what();
  }
  EXPECT_EQ(framework, "vllm");
  EXPECT_EQ(tokens, 8);
  EXPECT_THAT(models, ElementsAre("one", "two"));
  EXPECT_TRUE(is_last);
  EXPECT_EQ(bytes, Bytes(1024));
  EXPECT_EQ(kind, 2);
  return "";
}

TEST(EntryReader, SaysWhichKeyIsWrong) {
  EXPECT_EQ(limits_refused("{framework: vllm, tokens: 8, models: [one, two], is_last: yes, "
                           "bytes: 1 KiB, kind: sparse, why: so}"),
            "");
  EXPECT_EQ(limits_refused("why: so"), "limits.yaml:1: limits: 'framework' is missing");
  // A key that is spelt wrong is not also one that is missing.
  EXPECT_EQ(limits_refused("frame_work: vllm"),
            "limits.yaml:1: limits.frame_work: no such key; nearest is 'framework'");
  EXPECT_EQ(limits_refused("tokens: 9"), "limits.yaml:1: limits.tokens: 9 is outside 1 .. 8");
  EXPECT_THAT(limits_refused("is_last: 1"), HasSubstr("limits.is_last: '1' is not allowed"));
  EXPECT_THAT(limits_refused("bytes: 1 s"), HasSubstr("limits.bytes: "));
  EXPECT_THAT(limits_refused("kind: spars"), HasSubstr("nearest is 'sparse'"));
}

}  // namespace
}  // namespace foretell
