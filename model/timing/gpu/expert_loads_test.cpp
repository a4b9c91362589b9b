#include "model/timing/gpu/expert_loads.hpp"

#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

double rows_of(const ExpertLoad& load) {
  double rows = 0;
  for (const LayerCall::Groups& group : load.groups) rows += group.rows * group.count;
  return rows;
}

double touched_by(const ExpertLoad& load) {
  double experts = 0;
  for (const LayerCall::Groups& group : load.groups) experts += group.count;
  return experts;
}

ExpertsShape deepseek(std::int64_t tokens, std::int64_t ep, const char* distribution) {
  return {tokens, 7168, 2048, 8, 256, 1, ep, distribution};
}

TableRouting four_of_eight() {
  TableRouting routing;
  routing.groups = 8;
  routing.top_groups = 4;
  return routing;
}

TEST(ExpertLoads, EveryTokenGetsDifferentExperts) {
  for (const std::int64_t tokens : {1, 3, 16, 33, 100, 4096}) {
    for (const TableRouting& routing : {TableRouting{}, four_of_eight()}) {
      for (const char* distribution : {"balanced", "power_law_1.2", "power_law_3"}) {
        for (const ExpertLoad& load : expert_loads(deepseek(tokens, 1, distribution), routing)) {
          EXPECT_EQ(rows_of(load), static_cast<double>(tokens * 8)) << distribution << tokens;
          EXPECT_LE(load.groups.back().rows, static_cast<double>(tokens));
        }
      }
    }
  }
}

// Eight wishes in eight groups, of which the first four answer: half of the rows stay where they
// were wished, half fall to the first experts of the first group.
TEST(ExpertLoads, GroupsThatDoNotAnswerLeaveTheirRowsToTheFirst) {
  const auto rows = [](std::int64_t ep) {
    return rows_of(expert_loads(deepseek(8192, ep, "balanced"), four_of_eight()).front()) / 8192;
  };
  EXPECT_DOUBLE_EQ(rows(1), 8);
  EXPECT_DOUBLE_EQ(rows(2), 8);
  EXPECT_DOUBLE_EQ(rows(4), 6);
  EXPECT_DOUBLE_EQ(rows(8), 5);
}

// A router that fails on groups of one expert: the first GPU has all rows, the others none.
TEST(ExpertLoads, TheFirstExpertMayAnswerAlone) {
  TableRouting routing;
  routing.first_only = true;
  for (const std::int64_t ep : {1, 2, 8}) {
    for (const char* distribution : {"balanced", "power_law_1.2"}) {
      const ExpertLoad load = expert_loads({100, 64, 64, 2, 8, 1, ep, distribution}, routing)[0];
      ASSERT_EQ(load.groups.size(), 1U);
      EXPECT_EQ(load.groups[0].rows, 100);
      EXPECT_EQ(load.groups[0].count, 1);
    }
  }
}

TEST(ExpertLoads, FewTokensOfAPowerLawAskAsManyExpertsAsTheyHaveChoices) {
  for (const ExpertLoad& load : expert_loads(deepseek(2, 1, "power_law_1.2"))) {
    EXPECT_EQ(touched_by(load), 16);
  }
}

TEST(ExpertLoads, TheFirstExpertMakesTheChoicesOfOtherGpus) {
  TableRouting routing;
  routing.others_to_first = true;
  const auto load = [&](std::int64_t ep) {
    return expert_loads({16384, 4096, 1536, 8, 128, 1, ep, "balanced"}, routing).front();
  };
  EXPECT_EQ(rows_of(load(8)), 16384 * 8);  // every token has a choice among each 16 experts
  EXPECT_EQ(load(8).tokens, 16384);
  EXPECT_EQ(rows_of(load(64)), 16384);  // one token of eight
  EXPECT_EQ(load(64).tokens, 2048);
  EXPECT_EQ(rows_of(load(1)), 16384 * 8);
}

TEST(ExpertLoads, RefusesGroupsThatDoNotDivideOrHoldTooFew) {
  TableRouting routing = four_of_eight();
  EXPECT_THROW(expert_loads({16, 64, 64, 2, 12, 1, 1, "balanced"}, routing), UserError);
  EXPECT_THROW(expert_loads({16, 64, 64, 9, 16, 1, 1, "balanced"}, routing), UserError);
}

}  // namespace
}  // namespace foretell
