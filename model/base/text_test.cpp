#include "model/base/text.hpp"

#include <gmock/gmock.h>

namespace foretell {
namespace {

using ::testing::ElementsAre;

TEST(Text, TrimKeepsInnerSpaceAndEmptiesBlankText) {
  EXPECT_EQ(trim("  a b\t\r\n"), "a b");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, SplitKeepsEmptyPieces) {
  EXPECT_THAT(split("a..b", '.'), ElementsAre("a", "", "b"));
  EXPECT_THAT(split("", '.'), ElementsAre(""));
  EXPECT_THAT(split("a.", '.'), ElementsAre("a", ""));
}

TEST(Text, JoinIsTheInverseOfSplit) {
  for (const char* text : {"", "a", "a.b", ".a..b."}) EXPECT_EQ(join(split(text, '.'), "."), text);
}

TEST(Text, JoinSeparatesEqualNeighbours) { EXPECT_EQ(join({"a", "a", "a"}, ", "), "a, a, a"); }

TEST(Text, StartsWithNeedsTheWholePrefix) {
  EXPECT_TRUE(starts_with("device.hbm", "device."));
  EXPECT_FALSE(starts_with("dev", "device."));
}

TEST(Text, EndsWithNeedsTheWholeSuffix) {
  EXPECT_TRUE(ends_with("device.hbm", ".hbm"));
  EXPECT_FALSE(ends_with("hbm", ".hbm"));
}

TEST(Text, LowerLeavesOtherCharactersAlone) {
  EXPECT_EQ(to_lower("BERT-Large_1.5"), "bert-large_1.5");
}

TEST(Text, ErrorsNameLongWordsAndDoNotPrintThem) {
  const std::string many(3000, 'a');
  EXPECT_EQ(with_short_words("unknown '" + many + "'; there are\n  b"),
            "unknown '" + std::string(59, 'a') + "… (3003 letters) there are\n  b");
  EXPECT_EQ(with_short_words("  two words "), "  two words ");
  EXPECT_EQ(with_short_words(""), "");
  std::string wide = "a";
  for (int i = 0; i < 400; ++i) wide += "ü";
  EXPECT_EQ(with_short_words(wide).substr(0, 62), wide.substr(0, 59) + "…");
}

}  // namespace
}  // namespace foretell
