#include <gmock/gmock.h>

#include "workloads/ir/operators/networks.hpp"
#include "workloads/ir/operators/operator_test_case.hpp"

namespace foretell {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing_support::run_operator;
using Attributes = std::map<std::string, Attribute>;

const std::int64_t kOne = 1;

// Counted one by one.
double counted(const VisibleKeys& visible) {
  double pairs = 0;
  for (std::int64_t q = 0; q < visible.queries; ++q) {
    const std::int64_t at = visible.causal ? visible.keys - visible.queries + q : visible.keys - 1;
    std::int64_t seen = at + 1;
    if (visible.chunk > 0) seen = at % visible.chunk + 1;
    if (visible.window > 0) seen = std::min(seen, visible.window);
    if (visible.selected > 0) seen = std::min(seen, visible.selected);
    pairs += static_cast<double>(seen);
  }
  return pairs;
}

TEST(VisiblePairs, AreThoseCountedOneByOne) {
  for (const std::int64_t queries : {1, 5, 64, 100}) {
    for (const std::int64_t window : {0, 1, 16, 200}) {
      for (const std::int64_t chunk : {0, 7, 32, 500}) {
        const VisibleKeys visible{queries, 100, true, window, chunk, 0};
        EXPECT_EQ(visible_pairs(visible), counted(visible)) << queries << window << chunk;
      }
    }
    const VisibleKeys selected{queries, 100, true, 0, 0, 10};
    EXPECT_EQ(visible_pairs(selected), counted(selected));
    const VisibleKeys all{queries, 100, false, 0, 0, 0};
    EXPECT_EQ(visible_pairs(all), 100.0 * static_cast<double>(queries));
  }
}

TEST(VisiblePairs, OfAPatternAreThoseOfAWindow) {
  const VisibleKeys visible{1000, 1000, true, 64, 0, 0, 0, 8};
  const double near = visible_pairs({1000, 1000, true, 64});
  const double all = visible_pairs({1000, 1000, true});
  EXPECT_DOUBLE_EQ(visible_pairs(visible), near + (all - near) / 8);
  const std::int64_t window = window_of_as_many(visible);
  EXPECT_LE(visible_pairs({1000, 1000, true, window}), visible_pairs(visible));
  EXPECT_GT(visible_pairs({1000, 1000, true, window + 1}), visible_pairs(visible));
  EXPECT_EQ(window_of_as_many({50, 50, true, 64, 0, 0, 0, 8}), 64) << "all are near";
}

TEST(AttentionOperator, LatentAttentionOfOneToken) {
  // 128 heads read 1000 entries of 576 columns, of which 512 are the values.
  const auto outcome =
      run_operator("Attention", {{4, 128, 1, 576}, {4, 1, 1000, 576}, {4, 1, 1000, 512}},
                   {{"causal", kOne}, {"latent", kOne}});
  EXPECT_THAT(outcome.shapes, ElementsAre(Shape{4, 1, 128 * 512}));
  EXPECT_EQ(outcome.flops, 4.0 * 128 * 1000 * (2 * (576 + 512) + 5));
  const std::string wrong =
      run_operator("Attention", {{4, 128, 1, 64}, {4, 3, 9, 64}, {4, 3, 9, 64}}).error;
  EXPECT_THAT(wrong, HasSubstr("do not fit"));
}

TEST(ExpertsOperator, WorkIsThatOfTheChosenOnes) {
  const Attributes gated{
      {"experts", std::int64_t{256}}, {"gated", kOne}, {"activation", std::string("silu")}};
  const auto all = run_operator(
      "Experts", {{2, 3, 64}, {2, 3, 8}, {2, 3, 8}, {256, 64, 32}, {256, 16, 64}}, gated);
  EXPECT_THAT(all.shapes, ElementsAre(Shape{2, 3, 64}));
  EXPECT_EQ(all.flops, 2.0 * 3 * 8 * (2 * (64 * 32 + 16 * 64) + 4 * 16 + 2 * 64));
  const auto quarter = run_operator(
      "Experts", {{2, 3, 64}, {2, 3, 8}, {2, 3, 8}, {64, 64, 32}, {64, 16, 64}}, gated);
  EXPECT_EQ(quarter.flops * 4, all.flops) << "a quarter of the experts is held here";
  EXPECT_THAT(run_operator("Experts",
                           {{2, 3, 64}, {2, 3, 8}, {2, 3, 8}, {256, 64, 16}, {256, 16, 64}}, gated)
                  .error,
              HasSubstr("do not fit"));
}

TEST(RouteOperator, GroupsDivideTheExperts) {
  const Attributes groups{{"k", std::int64_t{8}},
                          {"function", std::string("sigmoid")},
                          {"groups", std::int64_t{8}},
                          {"top_groups", std::int64_t{4}}};
  const auto outcome = run_operator("Route", {{2, 3, 256}, {256}}, groups);
  EXPECT_THAT(outcome.shapes, ElementsAre(Shape{2, 3, 8}, Shape{2, 3, 8}));
  EXPECT_THAT(run_operator("Route", {{2, 3, 255}}, groups).error, HasSubstr("groups of 255"));
  Attributes many = groups;
  many["k"] = std::int64_t{300};
  EXPECT_THAT(run_operator("Route", {{2, 3, 256}}, many).error, HasSubstr("cannot choose 300"));
  many = groups;
  many["function"] = std::string("tanh");
  EXPECT_THAT(run_operator("Route", {{2, 3, 256}}, many).error, HasSubstr("none of softmax"));
}

TEST(ScanOperator, OneTokenReadsItsStateAFewTimes) {
  const auto shapes = [](std::int64_t tokens) {
    return std::vector<Shape>{{1, tokens, 16, 128}, {1, tokens, 16, 128}, {1, tokens, 32, 128},
                              {1, tokens, 32},      {1, tokens, 32},      {1, 32, 128, 128}};
  };
  const Attributes delta{{"function", std::string("gated_delta")}, {"chunk", std::int64_t{64}}};
  const auto token = run_operator("Scan", shapes(1), delta);
  EXPECT_THAT(token.shapes, ElementsAre(Shape{1, 1, 32 * 128}));
  EXPECT_EQ(token.flops, 2 * 3.5 * 128 * 128 * 32);
  const auto prompt = run_operator("Scan", shapes(640), delta);
  const double per_token = 32 * (128 + 128) + 2.0 * 128 * 128 + 32 * 384 + 128 * 128;
  EXPECT_EQ(prompt.flops, 2 * 640 * 32 * per_token);
  const Attributes mamba{{"function", std::string("mamba2")}, {"chunk", std::int64_t{64}}};
  EXPECT_LT(run_operator("Scan", shapes(640), mamba).flops, prompt.flops);
  const Attributes other{{"function", std::string("lstm")}, {"chunk", std::int64_t{64}}};
  EXPECT_THAT(run_operator("Scan", shapes(1), other).error, HasSubstr("none of mamba2"));
}

TEST(IndexerOperator, ChoosesAtMostWhatIsThere) {
  const Attributes tokens{{"top_k", std::int64_t{2048}}, {"block", kOne}};
  const auto many = run_operator("Indexer", {{1, 1, 64, 128}, {1, 5000, 128}, {1, 1, 64}}, tokens);
  EXPECT_THAT(many.shapes, ElementsAre(Shape{1, 1, 2048}));
  EXPECT_EQ(many.flops, 5000.0 * (64 * (2 * 128 + 2) + 1));
  const auto few = run_operator("Indexer", {{1, 1, 64, 128}, {1, 100, 128}}, tokens);
  EXPECT_THAT(few.shapes, ElementsAre(Shape{1, 1, 100}));
  const Attributes blocks{{"top_k", std::int64_t{16}}, {"block", std::int64_t{128}}};
  EXPECT_THAT(run_operator("Indexer", {{1, 1, 4, 128}, {1, 1000, 128}}, blocks).shapes,
              ElementsAre(Shape{1, 1, 8}));
}

TEST(ExchangeOperator, GoesThereAndBack) {
  const auto there =
      run_operator("ExpertExchange", {{4, 1, 64}},
                   {{"ranks", std::int64_t{8}}, {"direction", std::string("dispatch")}});
  EXPECT_THAT(there.shapes, ElementsAre(Shape{32, 1, 64}));
  const auto back =
      run_operator("ExpertExchange", {{32, 1, 64}},
                   {{"ranks", std::int64_t{8}}, {"direction", std::string("combine")}});
  EXPECT_THAT(back.shapes, ElementsAre(Shape{4, 1, 64}));
}

TEST(CompressOperator, SeveralTokensBecomeOne) {
  const Attributes four{{"ratio", std::int64_t{4}}, {"dim", std::int64_t{512}}};
  EXPECT_THAT(run_operator("Compress", {{1, 100, 1024}, {1, 100, 1024}}, four).shapes,
              ElementsAre(Shape{1, 25, 512}));
  EXPECT_THAT(run_operator("ShortConv", {{1, 5, 96}, {96, 4}, {1, 96, 3}}).shapes,
              ElementsAre(Shape{1, 5, 96}));
}

}  // namespace
}  // namespace foretell
