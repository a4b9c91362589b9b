#include "workloads/traffic/shared_openings.hpp"

#include <gtest/gtest.h>

#include <random>

namespace foretell {
namespace {

std::int64_t tokens_of(const std::vector<SharedPart>& parts) {
  std::int64_t sum = 0;
  for (const SharedPart& part : parts) sum += part.tokens;
  return sum;
}

TEST(SharedOpenings, FindsTheSizeOfBlocks) {
  EXPECT_EQ(tokens_per_block({{6755, std::vector<std::int64_t>(14)}}), 512);
  EXPECT_EQ(tokens_per_block({{1200, {0, 1}}, {1800, {0, 1, 2}}}), 512);  // whole blocks alone
  EXPECT_EQ(tokens_per_block({{655, {0, 1, 2}}}), 256);
  EXPECT_EQ(tokens_per_block({{521, std::vector<std::int64_t>(33)}}), 16);
  EXPECT_EQ(tokens_per_block({{100, {0, 1, 2}}, {100, {0}}}), 0);
}

TEST(SharedOpenings, CutsWherePromptsPart) {
  const auto parts = shared_openings(
      {{40, {1, 2, 3}}, {33, {1, 2, 4}}, {24, {1, 2}}, {16, {7}}, {20, {1, 8}}}, 16);
  ASSERT_EQ(parts[0].size(), 2U);  // all four have 1, three of them 2
  EXPECT_EQ(parts[0][0].tokens, 16);
  EXPECT_EQ(parts[0][1].tokens, 16);
  EXPECT_EQ(parts[1][1].chain, parts[0][1].chain);
  EXPECT_EQ(parts[2][1].tokens, 8);  // its last block is not full
  EXPECT_TRUE(parts[3].empty());
  EXPECT_EQ(parts[4].size(), 1U);
}

TEST(SharedOpenings, EqualNumbersAfterOthersAreOthers) {
  const auto parts = shared_openings({{32, {1, 5}}, {32, {2, 5}}}, 16);
  EXPECT_TRUE(parts[0].empty());
  EXPECT_TRUE(parts[1].empty());
}

// What two prompts share is what their numbers have in common from the beginning on.
TEST(SharedOpenings, AgreesWithComparingEveryPair) {
  std::mt19937 random(5);
  std::vector<NumberedPrompt> prompts(60);
  for (NumberedPrompt& one : prompts) {
    one.blocks.resize(1 + random() % 6);
    for (std::int64_t& block : one.blocks) block = random() % 2;
    one.tokens = static_cast<std::int64_t>(one.blocks.size()) * 16;
  }
  const auto parts = shared_openings(prompts, 16);
  for (std::size_t a = 0; a < prompts.size(); ++a) {
    std::int64_t most = 0;
    for (std::size_t b = 0; b < prompts.size(); ++b) {
      if (a == b) continue;
      std::int64_t common = 0;
      for (std::size_t i = 0; i < std::min(prompts[a].blocks.size(), prompts[b].blocks.size()) &&
                              prompts[a].blocks[i] == prompts[b].blocks[i];
           ++i) {
        ++common;
      }
      most = std::max(most, common);
      std::int64_t shared = 0;
      for (std::size_t i = 0;
           i < std::min(parts[a].size(), parts[b].size()) && parts[a][i].chain == parts[b][i].chain;
           ++i) {
        shared += parts[a][i].tokens;
      }
      EXPECT_EQ(shared, common * 16);
    }
    EXPECT_EQ(tokens_of(parts[a]), most * 16);
  }
}

}  // namespace
}  // namespace foretell
