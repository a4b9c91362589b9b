#include "calib/validate/part.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>

#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

TEST(Part, SharesAreFiveThreeTwo) {
  std::map<Part, int> counts;
  constexpr int kGroups = 10000;
  for (int i = 0; i < kGroups; ++i) ++counts[part_of("group " + std::to_string(i))];
  EXPECT_NEAR(counts[Part::kFit], 5000, 200);
  EXPECT_NEAR(counts[Part::kJudge], 3000, 200);
  EXPECT_NEAR(counts[Part::kVault], 2000, 200);
}

// FNV-1a of "" is cbf29ce484222325 (14695981039346656037), of "a" af63dc4c8601ec8c
// (12638187200555641996): residues 7 and 6.
TEST(Part, FollowsThePublishedHash) {
  EXPECT_EQ(part_of(""), Part::kJudge);
  EXPECT_EQ(part_of("a"), Part::kJudge);
}

TEST(Part, NamesGoBothWays) {
  for (const Part part : {Part::kFit, Part::kJudge, Part::kVault})
    EXPECT_EQ(parse_part(part_name(part)), part);
  EXPECT_THROW(parse_part("all"), UserError);
}

TEST(Part, OpeningsAreAddedToTheLog) {
  const TemporaryFolder folder;
  const std::string path = folder.file("vault_openings.csv");
  log_vault_opening(path, "abc", "one.csv");
  log_vault_opening(path, "abc", "two.csv");
  const std::string text = folder.read("vault_openings.csv");
  EXPECT_THAT(text, testing::StartsWith("opened,commit,table\n"));
  EXPECT_THAT(text, testing::HasSubstr("Z,abc,one.csv\n"));
  EXPECT_THAT(text, testing::EndsWith("Z,abc,two.csv\n"));
  EXPECT_THROW(log_vault_opening("/nowhere/log", "abc", "one.csv"), UserError);
}

}  // namespace
}  // namespace foretell
