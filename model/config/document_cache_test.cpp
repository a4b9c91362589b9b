#include "model/config/document_cache.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

// A folder of its own for the length of a test.
class DocumentCache : public testing::Test {
 protected:
  DocumentCache() { setenv("FORETELL_CACHE", folder_.c_str(), 1); }
  ~DocumentCache() override { unsetenv("FORETELL_CACHE"); }
  fs::path only_file() const { return fs::directory_iterator(folder_)->path(); }

  const TemporaryFolder above_;
  const fs::path folder_ = above_.path() / "cache";
};

std::string long_document(const std::string& first) {
  std::string text = "first: " + first + "\nlist:\n";
  for (int i = 0; i < 400; ++i)
    text += "  - {name: 'n " + std::to_string(i) + "', empty: , values: [1, 2.5, \"x\"]}\n";
  return text;
}

void expect_equal(const Node& a, const Node& b) {
  EXPECT_EQ(a.kind, b.kind);
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.where(), b.where());
  ASSERT_EQ(a.items.size(), b.items.size());
  for (std::size_t i = 0; i < a.items.size(); ++i) expect_equal(a.items[i], b.items[i]);
  ASSERT_EQ(a.entries.size(), b.entries.size());
  for (std::size_t i = 0; i < a.entries.size(); ++i) {
    EXPECT_EQ(a.entries[i].key, b.entries[i].key);
    EXPECT_EQ(a.entries[i].line, b.entries[i].line);
    expect_equal(a.entries[i].value, b.entries[i].value);
  }
}

TEST_F(DocumentCache, WhatIsKeptIsTheDocumentUnderTheNameItIsAskedFor) {
  const std::string text = long_document("1");
  EXPECT_FALSE(kept_document(text, "x.yaml"));
  const Node parsed = parse_document(text, "x.yaml");
  const std::optional<Node> kept = kept_document(text, "x.yaml");
  ASSERT_TRUE(kept);
  expect_equal(*kept, parsed);
  EXPECT_EQ(kept_document(text, "y.yaml")->find("first")->where(), "y.yaml:1");
}

TEST_F(DocumentCache, AChangedDocumentIsAnotherOne) {
  parse_document(long_document("1"), "x.yaml");
  EXPECT_FALSE(kept_document(long_document("2"), "x.yaml"));
  EXPECT_EQ(parse_document(long_document("2"), "x.yaml").find("first")->text, "2");
}

TEST_F(DocumentCache, ADamagedFileIsParsedAnew) {
  const std::string text = long_document("3");
  keep_document(text, parse_document(text, "x.yaml"));
  const fs::path file = only_file();
  const auto size = fs::file_size(file);
  fs::resize_file(file, size / 2);
  EXPECT_FALSE(kept_document(text, "x.yaml"));
  fs::resize_file(file, size);  // with zeros
  EXPECT_FALSE(kept_document(text, "x.yaml"));
  std::ofstream(file, std::ios::trunc) << "";
  EXPECT_FALSE(kept_document(text, "x.yaml"));
}

TEST_F(DocumentCache, MistakesAreSaidEveryTime) {
  const std::string text = long_document("4") + "first: again\n";
  EXPECT_THROW(parse_document(text, "x.yaml"), UserError);
  EXPECT_THROW(parse_document(text, "x.yaml"), UserError);
}

TEST_F(DocumentCache, WithoutAFolderDocumentsAreParsed) {
  setenv("FORETELL_CACHE", "off", 1);
  parse_document(long_document("5"), "x.yaml");
  EXPECT_FALSE(fs::exists(folder_));
  setenv("FORETELL_CACHE", "/dev/null/no", 1);
  EXPECT_EQ(parse_document(long_document("6"), "x.yaml").find("first")->text, "6");
}

}  // namespace
}  // namespace foretell
