#include "reports/render/table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;

Table example_table() {
  return {{{"name"}, {"time", Align::kRight}}, {{"encoder.attention.query", "1.25"}, {"a", "10"}}};
}

TEST(Table, TextIsAlignedAndHasNoTrailingSpace) {
  EXPECT_EQ(render_text(example_table()),
            "name                     time\n"
            "-----------------------  ----\n"
            "encoder.attention.query  1.25\n"
            "a                          10\n");
}

TEST(Table, ExactlyFittingWidthCutsNothingAndOneLessCuts) {
  EXPECT_EQ(render_text(example_table(), 29), render_text(example_table()));
  EXPECT_EQ(render_text(example_table(), 28),
            "name                    time\n"
            "----------------------  ----\n"
            "encoder.attention.que~  1.25\n"
            "a                         10\n");
}

TEST(Table, NumbersAreNeverCut) {
  const std::string text = render_text(example_table(), 5);
  EXPECT_THAT(text, testing::HasSubstr("  encoder~\n"));
  EXPECT_THAT(text, testing::HasSubstr("  1.25\n"));
}

TEST(Table, WidthCountsCharactersAndNotBytes) {
  const Table table{{{"x"}, {"n", Align::kRight}}, {{"\xc3\xa9t\xc3\xa9", "1"}, {"abc", "2"}}};
  EXPECT_EQ(render_text(table), "x    n\n---  -\n\xc3\xa9t\xc3\xa9  1\nabc  2\n");
}

TEST(Table, ProseIsWrappedAndTablesAreNot) {
  EXPECT_EQ(wrap_prose(
                "one two three four\n\na  bbbbbbbbbbbbb\n-  -------------\n1  2222222222222\n", 10),
            "one two\n  three\n  four\n\na  bbbbbbbbbbbbb\n-  -------------\n1  2222222222222\n");
  EXPECT_EQ(wrap_prose("  indented words stay", 12), "  indented\n  words stay");
  EXPECT_EQ(wrap_prose("averylongwordthatdoesnotfit", 5), "averylongwordthatdoesnotfit");
  EXPECT_EQ(wrap_prose("one two", 0), "one two");
}

TEST(Table, MarkdownOfForeignTextIsText) {
  EXPECT_EQ(markdown_text("<script>a|b*c`[x](y)\\\n# d_e"),
            "\\<script>a\\|b\\*c\\`\\[x\\](y)\\\\ # d_e");
}

TEST(Table, MarkdownEscapesBarsAndTagsAndKeepsAlignment) {
  const Table table{{{"a"}, {"b", Align::kRight}}, {{"x|<y>", "1"}}};
  EXPECT_EQ(render_markdown(table), "| a | b |\n| --- | ---: |\n| x\\|\\<y> | 1 |\n");
}

TEST(Table, ConstantColumnsNeedTwoRows) {
  Table table{{{"a"}, {"b"}}, {{"x", "1"}}};
  EXPECT_TRUE(constant_columns(table).empty());
  table.rows.push_back({"x", "2"});
  EXPECT_THAT(constant_columns(table), ElementsAre(0U));
  EXPECT_EQ(without_columns(table, {0}).rows,
            (std::vector<std::vector<std::string>>{{"1"}, {"2"}}));
}

TEST(Table, ARaggedRowIsOurMistake) {
  const Table table{{{"a"}, {"b"}}, {{"x"}}};
  EXPECT_THROW(render_text(table), InternalError);
  EXPECT_THROW(render_markdown(table), InternalError);
}

TEST(Table, AColumnThatIsWholeIsNotCut) {
  const Table table{{{"name"}, {"bar", Align::kLeft, true}}, {{"a long name", "##########"}}};
  EXPECT_EQ(render_text(table, 20), "name      bar\n--------  ----------\na long ~  ##########\n");
}

TEST(Table, WhatFitsNowhereIsABlockPerRow) {
  const Table table{{{"name"}, {"number", Align::kRight}, {"other", Align::kRight}},
                    {{"a", "123456", "234567"}, {"b", "1", "2"}}};
  EXPECT_FALSE(fits(table, 16));
  EXPECT_TRUE(fits(table, 24));
  EXPECT_EQ(render_text(table, 16),
            "name    a\nnumber  123456\nother   234567\n\nname    b\nnumber  1\nother   2\n");
}

TEST(Table, ColoursOfTerminals) {
  EXPECT_EQ(in_colour("note: x\n\nab  b\n--  -\n1   ##\n#   2\n\n##\n"),
            "\x1b[33mnote:\x1b[0m x\n\n\x1b[1;36mab  b\x1b[0m\n\x1b[2m--  -\x1b[0m\n"
            "1   \x1b[32m##\x1b[0m\n#   2\n\n##\n");
  EXPECT_EQ(in_colour("a\nb\n"), "a\nb\n");
}

}  // namespace
}  // namespace foretell
