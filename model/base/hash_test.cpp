#include "model/base/hash.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

// Test vectors of the FNV authors (draft-eastlake-fnv).
TEST(ContentHash, MatchesPublishedVectors) {
  EXPECT_EQ(content_hash(""), "cbf29ce484222325");
  EXPECT_EQ(content_hash("a"), "af63dc4c8601ec8c");
  EXPECT_EQ(content_hash("foobar"), "85944171f73967e8");
}

TEST(ContentHash, SeesOneChangedByte) {
  EXPECT_NE(content_hash("value: 1"), content_hash("value: 2"));
}

}  // namespace
}  // namespace foretell
