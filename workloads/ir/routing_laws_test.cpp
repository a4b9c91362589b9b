#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>
#include <string>

#include "model/base/errors.hpp"
#include "workloads/ir/routing.hpp"

namespace foretell {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr PowerLaw kLaw{5, 0.8};

std::int64_t total(const std::vector<std::int64_t>& rows) {
  return std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
}

std::int64_t largest(const std::vector<std::int64_t>& rows) {
  return *std::max_element(rows.begin(), rows.end());
}

TEST(Routing, EveryTokenArrives) {
  for (const char* text : {"random", "balanced", "power-law:1.2", "loads:1,2,3,4"}) {
    for (const std::int64_t tokens : {1, 7, 64, 4096}) {
      const auto rows = rows_per_expert(parse_routing(text), {tokens, 8, 256, 256}, kLaw);
      EXPECT_EQ(total(rows), tokens * 8) << text << " " << tokens;
      EXPECT_LE(largest(rows), tokens) << text << ": no expert gets a token twice";
    }
  }
}

TEST(Routing, RanksShareBalancedTokensEvenly) {
  EXPECT_EQ(total(rows_per_expert(parse_routing("balanced"), {1024, 8, 256, 32})), 1024);
  EXPECT_THAT(rows_per_expert(parse_routing("balanced"), {1024, 8, 256, 32}), Each(32));
}

// Against tokens that are dealt out: the mean of the largest share of any rank.
TEST(Routing, TheBusiestRankOfARandomRoutingHasMore) {
  constexpr int kDraws = 150;
  std::mt19937 engine(7);
  for (const std::int64_t ranks : {2, 4, 8, 32}) {
    for (const std::int64_t tokens : {4, 64, 256}) {
      const RoutedTokens routed{tokens, 8, 256, 256 / ranks};
      std::uniform_int_distribution<std::int64_t> any(0, 255);
      double sum = 0;
      for (int draw = 0; draw < kDraws; ++draw) {
        std::vector<std::int64_t> rows(static_cast<std::size_t>(ranks), 0);
        for (std::int64_t token = 0; token < tokens; ++token) {
          std::set<std::int64_t> chosen;
          while (chosen.size() < 8) chosen.insert(any(engine));
          for (const std::int64_t expert : chosen)
            ++rows[static_cast<std::size_t>(expert / routed.held)];
        }
        sum += static_cast<double>(largest(rows));
      }
      const double expected = sum / kDraws;
      const auto rows = static_cast<double>(total(rows_per_expert({}, routed)));
      EXPECT_NEAR(rows, expected, std::max(1.0, 0.04 * expected)) << ranks << " " << tokens;
      EXPECT_GT(rows, static_cast<double>(tokens * 8) / static_cast<double>(ranks))
          << ranks << " " << tokens;
    }
  }
}

TEST(Routing, AllRanksTogetherHaveWhatIsChosen) {
  EXPECT_EQ(total(rows_per_expert(parse_routing("random"), {1024, 8, 256, 256})), 8192);
  // One token on many ranks: none has more than its eight choices.
  EXPECT_LE(total(rows_per_expert(parse_routing("random"), {1, 8, 256, 8})), 8);
  EXPECT_EQ(total(rows_per_expert(parse_routing("random"), {1, 1, 2, 1})), 1);
}

TEST(Routing, FewTokensReachFewExperts) {
  EXPECT_EQ(rows_per_expert(parse_routing("balanced"), {1, 8, 256, 256}).size(), 8U);
  const auto random = rows_per_expert(parse_routing("random"), {64, 8, 256, 256});
  const double expected = 256 * (1 - std::exp(-64.0 * 8 / 256));
  EXPECT_NEAR(static_cast<double>(random.size()), expected, 3);
}

TEST(Routing, TheBusiestRankOfAPowerLawHasMoreThanItsShare) {
  const auto even = rows_per_expert(parse_routing("balanced"), {4096, 8, 256, 32});
  const auto mild = rows_per_expert(parse_routing("power-law:3"), {4096, 8, 256, 32}, kLaw);
  const auto steep = rows_per_expert(parse_routing("power-law:1.2"), {4096, 8, 256, 32}, kLaw);
  EXPECT_GT(total(mild), total(even));
  EXPECT_GT(total(steep), total(mild));
  EXPECT_GT(largest(steep), largest(mild));
  EXPECT_EQ(steep, rows_per_expert(parse_routing("power-law:1.2"), {4096, 8, 256, 32}, kLaw));
}

TEST(Routing, MeasuredLoadsAreKept) {
  const auto rows = rows_per_expert(parse_routing("loads:3,1"), {100, 1, 2, 2});
  EXPECT_EQ(largest(rows), 75);
  EXPECT_EQ(total(rows), 100);
}

TEST(Routing, SaysWhatIsWrong) {
  const auto error = [](const char* text) {
    try {
      parse_routing(text);
    } catch (const UserError& wrong) {
      return std::string(wrong.what());
    }
    return std::string("accepted");
  };
  EXPECT_THAT(error("zipf"), HasSubstr("known are random, balanced, power-law"));
  EXPECT_THAT(error("power-law:x"), HasSubstr("is no number"));
  EXPECT_THAT(error("power-law:1"), HasSubstr("not 1"));
  EXPECT_THAT(error("loads:0,0"), HasSubstr("no load above 0"));
  EXPECT_THAT(error("loads:1,-2"), HasSubstr("below 0"));
  for (const char* text : {"random", "balanced", "power-law:1.2", "loads:1,2.5"})
    EXPECT_EQ(to_string(parse_routing(text)), text);
}

RoutedTokens on_ranks(std::int64_t ranks, std::int64_t redundant) {
  RoutedTokens routed{4096, 8, 256, (256 + redundant) / ranks};
  routed.redundant = redundant;
  return routed;
}

TEST(RedundantExperts, TheBusiestRankHasLessButNeverLessThanItsShare) {
  std::string falling = "loads:256";
  for (int load = 255; load > 0; --load) falling += "," + std::to_string(load);
  for (const std::string& text :
       {std::string("power-law:1.2"), std::string("power-law:2"), falling}) {
    const ExpertRouting routing = parse_routing(text);
    std::int64_t before = total(rows_per_expert(routing, on_ranks(8, 0), kLaw));
    for (const std::int64_t redundant : {8, 32, 128}) {
      const std::int64_t now = total(rows_per_expert(routing, on_ranks(8, redundant), kLaw));
      EXPECT_LE(now, before) << text << " with " << redundant;
      EXPECT_GE(now, 4096 * 8 / 8) << text << " with " << redundant;
      before = now;
    }
    EXPECT_LT(before, total(rows_per_expert(routing, on_ranks(8, 0), kLaw))) << text;
  }
}

TEST(RedundantExperts, CopiesShareTheRowsOfTheirExpert) {
  // One expert has half of the rows: of two ranks each gets a copy of it.
  RoutedTokens routed{1000, 1, 3, 2};
  routed.redundant = 1;
  const auto rows = rows_per_expert(parse_routing("loads:2,1,1"), routed);
  EXPECT_EQ(total(rows), 500);
  EXPECT_EQ(rows, (std::vector<std::int64_t>{250, 250}));
}

TEST(RedundantExperts, EqualLoadsStayEqual) {
  const auto even = rows_per_expert(parse_routing("balanced"), on_ranks(8, 32));
  EXPECT_NEAR(static_cast<double>(total(even)), 4096, 41);
  EXPECT_EQ(even.size(), 36U);
}

// Copies narrow the spread of what ranks get by chance; the busiest one still counts.
TEST(RedundantExperts, OfRandomOnesTheBusiestRankCounts) {
  const ExpertRouting random = parse_routing("random");
  const std::int64_t without = total(rows_per_expert(random, on_ranks(8, 0)));
  std::int64_t before = without;
  for (const std::int64_t redundant : {32, 128, 256}) {
    const auto rows = rows_per_expert(random, on_ranks(8, redundant));
    EXPECT_EQ(static_cast<std::int64_t>(rows.size()), (256 + redundant) / 8);
    EXPECT_GT(total(rows), 4096) << redundant;
    EXPECT_LE(total(rows), before) << redundant;
    before = total(rows);
  }
  EXPECT_LT(before, without);
  // A copy of every expert on every rank: nothing is left to chance.
  const auto all = rows_per_expert(random, on_ranks(8, 256 * 7));
  EXPECT_NEAR(static_cast<double>(total(all)), 4096, 40);
}

}  // namespace
}  // namespace foretell
