#include "model/config/document.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

Node parse(const std::string& text) { return parse_document(text, "x.yaml"); }

template <class Action>
std::string message_of(const Action& action) {
  try {
    action();
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}
std::string parse_message(const std::string& text) {
  return message_of([&] { parse(text); });
}

TEST(Document, EveryNodeKnowsItsLine) {
  const Node root = parse("# comment\na: 1\nb:\n  c: two\n  d: [x, y]\n");
  EXPECT_EQ(root.find("a")->where(), "x.yaml:2");
  const Node& b = root.required("b", "");
  EXPECT_EQ(b.find("c")->where(), "x.yaml:4");
  EXPECT_EQ(b.find("c")->text, "two");
  ASSERT_EQ(b.find("d")->items.size(), 2U);
  EXPECT_EQ(b.find("d")->items[1].where(), "x.yaml:5");
}

TEST(Document, KeepsTheOrderOfKeys) {
  const Node root = parse("z: 1\na: 2\nm: 3\n");
  ASSERT_EQ(root.entries.size(), 3U);
  EXPECT_EQ(root.entries[0].key, "z");
  EXPECT_EQ(root.entries[2].key, "m");
}

TEST(Document, AKeyWithoutValueIsNothing) {
  const Node root = parse("a:\nb: 1\n");
  EXPECT_EQ(root.find("a")->kind, NodeKind::kNull);
  EXPECT_EQ(root.find("a")->line, 1);
}

TEST(Document, DuplicateKeysAreErrorsWithBothLines) {
  EXPECT_EQ(parse_message("a: 1\nhbm:\n  rate: 1\n  size: 2\n  rate: 3\na: 2\n"),
            "x.yaml:5: hbm.rate: given twice; first in line 3\n"
            "x.yaml:6: a: given twice; first in line 1");
}

TEST(Document, BrokenYamlSaysWhere) {
  EXPECT_THAT(parse_message("a: [1, 2\nb: 3\n"), StartsWith("x.yaml:2: not valid YAML: "));
  const std::string tab = parse_message("a:\n\tb: 2\n");
  EXPECT_THAT(tab, StartsWith("x.yaml:2: not valid YAML: "));
  EXPECT_THAT(tab, HasSubstr("; lines are indented by spaces, not by tabs"));
  EXPECT_THAT(parse_message("a: 1\n  b: [\n"), ::testing::Not(HasSubstr("tabs")));
}

TEST(Document, EmptyAndSeveralDocumentsAreErrors) {
  EXPECT_EQ(parse_message(""), "x.yaml: the file is empty");
  EXPECT_EQ(parse_message("# only a comment\n"), "x.yaml: the file is empty");
  EXPECT_THAT(parse_message("a: 1\n---\nb: 2\n"), HasSubstr("a second document"));
  EXPECT_THAT(parse_message(",\n  \"a\": 1\n"), HasSubstr("not valid YAML"));  // ends, too
}

TEST(Document, KeysThatAreNoTextAreErrors) {
  EXPECT_EQ(parse_message("? [a, b]\n: 1\n"), "x.yaml:1: a key must be plain text");
}

TEST(Document, AnAliasThatContainsItselfIsAnError) {
  EXPECT_THAT(
      parse_message("a: &x [*x]\n"),
      ::testing::AnyOf(HasSubstr("alias that contains itself"), HasSubstr("not valid YAML")));
}

TEST(Document, AnAliasBombIsAnError) {
  std::string text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int level = 1; level < 8; ++level) {
    const std::string inner = "*a" + std::to_string(level - 1);
    text += "a" + std::to_string(level) + ": &a" + std::to_string(level) + " [" + inner;
    for (int i = 0; i < 9; ++i) text += ", " + inner;
    text += "]\n";
  }
  EXPECT_THAT(parse_message(text), HasSubstr("nested too deeply"));
}

TEST(Document, TypedAccessNamesThePlace) {
  const Node root = parse("cores: [1]\ncount: 2.5\nmany: 65\n");
  EXPECT_EQ(message_of([&] { root.find("cores")->as_text("device.cores"); }),
            "x.yaml:1: device.cores: expected a single value, here is a list");
  EXPECT_EQ(message_of([&] { root.find("count")->as_integer("count", 1, 64); }),
            "x.yaml:2: count: '2.5' is not a whole number");
  EXPECT_EQ(message_of([&] { root.find("many")->as_integer("many", 1, 64); }),
            "x.yaml:3: many: 65 is outside 1 .. 64");
  EXPECT_EQ(root.find("many")->as_integer("many", 1, 65), 65);
  EXPECT_EQ(message_of([&] { root.required("name", ""); }), "x.yaml:1: 'name' is missing");
  EXPECT_EQ(message_of([&] { root.find("many")->required("name", "many"); }),
            "x.yaml:3: many: expected a mapping, here is a single value");
}

TEST(Document, OnlyKeysReportsAllStrangers) {
  const Node root = parse("nmae: x\nid: 1\ncolour: red\n");
  EXPECT_EQ(message_of([&] {
              root.only_keys({"id", "name"}, "");
            }),
            "x.yaml:1: nmae: no such key; nearest is 'name'\n"
            "x.yaml:3: colour: no such key; there are: id, name");
  EXPECT_EQ(message_of([&] { root.only_keys({"id", "nmae", "colour"}, ""); }), "accepted");
}

TEST(Document, FilesThatCannotBeRead) {
  EXPECT_EQ(message_of([] { load_document("/no/such/file.yaml"); }),
            "/no/such/file.yaml: no such file");
  EXPECT_EQ(message_of([] { load_document("/", "folder"); }), "folder: not a file");
}

TEST(Document, FilesAreReadAsTheyAre) {
  const TemporaryFolder folder;
  const std::string path = folder.write("plain.yaml", "a: 1\r\nb: 2\r\n");
  EXPECT_EQ(load_document(path, "shown.yaml").find("b")->where(), "shown.yaml:2");
  EXPECT_EQ(read_text_file(path), "a: 1\r\nb: 2\r\n");
  { const std::ofstream emptied(path, std::ios::trunc); }
  EXPECT_EQ(read_text_file(path), "");
}

}  // namespace
}  // namespace foretell
