#include "calib/fit/shared_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "calib/fitted/gpu/attention_factors.hpp"
#include "model/base/errors.hpp"
#include "model/testing/temporary_folder.hpp"

namespace foretell {
namespace {

// A kernel whose time is known in closed form, at sizes 1 to 8.
class SharedFitTest : public testing::Test {
 protected:
  SharedFitTest() {
    fields(list, factors);
    factors.launch = Seconds(5e-6);
    factors.score = Cycles(100);
    factors.mma_efficiency = 0.5;
  }
  double time(int size) const {
    return factors.launch.value() * 1e6 + factors.score.value() * size * 0.01 +
           size * size / factors.mma_efficiency * 0.1 + factors.split.value() * 0.01;
  }
  // With values of their own for the factors that gain, against times that were measured.
  SharedFit share(const std::vector<std::string>& candidates, const FactorTexts& hints,
                  const SharedFitOptions& sharing, const std::vector<double>& measured) {
    std::vector<Observation> observations;
    for (const double one : measured) observations.push_back({"all", "one", one});
    return fit_shared(list, candidates, hints, sharing, observations, [this] { return times(); });
  }
  std::vector<double> times() const {
    std::vector<double> measured;
    for (int size = 1; size <= 8; ++size) measured.push_back(time(size));
    return measured;
  }

  AttentionFactors factors;
  FieldList list;
  const std::vector<std::string> all = {"launch", "score", "mma_efficiency"};
};

TEST_F(SharedFitTest, EqualKernelsShareEveryValue) {
  const SharedFit fit = share(all, {}, {}, times());
  EXPECT_TRUE(fit.own.empty());
  EXPECT_EQ(fit.loss, fit.shared_loss);
}

TEST_F(SharedFitTest, OnlyTheFactorThatDiffersIsItsOwn) {
  factors.mma_efficiency = 0.3;
  const std::vector<double> measured = times();
  factors.mma_efficiency = 0.5;
  const SharedFit fit = share(all, {}, {}, measured);
  EXPECT_EQ(fit.own, std::vector<std::string>({"mma_efficiency"}));
  EXPECT_NEAR(factors.mma_efficiency, 0.3, 3e-3);
  EXPECT_DOUBLE_EQ(factors.launch.value(), 5e-6);
  EXPECT_LT(fit.loss, 0.01 * fit.shared_loss);
}

TEST_F(SharedFitTest, NoMoreThanIsAllowedAndTheBestFirst) {
  factors.mma_efficiency = 0.2;
  factors.launch = Seconds(5.2e-6);
  const std::vector<double> measured = times();
  factors.mma_efficiency = 0.5;
  factors.launch = Seconds(5e-6);
  SharedFitOptions options;
  options.most = 1;
  const SharedFit fit = share(all, {}, options, measured);
  EXPECT_EQ(fit.own, std::vector<std::string>({"mma_efficiency"}));
  EXPECT_DOUBLE_EQ(factors.launch.value(), 5e-6);
}

TEST_F(SharedFitTest, NoMoreThanItTakes) {
  factors.mma_efficiency = 0.2;
  factors.launch = Seconds(5.2e-6);
  const std::vector<double> measured = times();
  factors.mma_efficiency = 0.5;
  factors.launch = Seconds(5e-6);
  SharedFitOptions options;
  options.enough = 0.02;
  const SharedFit fit = share(all, {}, options, measured);
  EXPECT_EQ(fit.own, std::vector<std::string>({"mma_efficiency"}));
  EXPECT_LE(fit.loss, options.enough);
  factors.mma_efficiency = 0.5;
  EXPECT_GT(share(all, {}, {}, measured).own.size(), 1U);
}

TEST_F(SharedFitTest, ValuesThatGainOnlyTogetherAreFoundByGivingUpTheOthers) {
  // Either alone makes it worse: the sum of both is what is measured.
  factors.mma_efficiency = 0.25;
  factors.launch = Seconds(1e-6);
  const std::vector<double> measured = times();
  factors.mma_efficiency = 0.5;
  factors.launch = Seconds(5e-6);
  SharedFitOptions options;
  options.gain = 0.9;  // no single value takes that off
  options.enough = 1e-3;
  const FactorTexts hints = {
      {"mma_efficiency", "0.25"}, {"launch", "1 us"}, {"score", "100 cycles"}};
  const SharedFit fit = share(all, hints, options, measured);
  EXPECT_EQ(fit.own, std::vector<std::string>({"launch", "mma_efficiency"}));
  EXPECT_LE(fit.loss, options.enough);
  EXPECT_DOUBLE_EQ(factors.score.value(), 100);
  EXPECT_NEAR(factors.launch.value(), 1e-6, 1e-7);
}

TEST_F(SharedFitTest, WhatTheOthersDoWithoutStartsFromAHint) {
  factors.split = Cycles(900);
  const std::vector<double> measured = times();
  factors.split = Cycles(0);
  const std::vector<std::string> candidates = {"mma_efficiency", "split"};
  const SharedFit blind = share({"split"}, {}, {}, measured);
  EXPECT_TRUE(blind.own.empty());
  const SharedFit fit = share(candidates, {{"split", "500 cycles"}}, {}, measured);
  EXPECT_EQ(fit.own, std::vector<std::string>({"split"}));
  EXPECT_NEAR(factors.split.value(), 900, 20);
}

TEST(SharingRule, TheFirstThatFitsAndIsThereCounts) {
  const TemporaryFolder folder;
  const std::string path = folder.write("plan.yaml",
                                        "starts: []\n"
                                        "sharing:\n"
                                        "  - {devices: [b], like: {device: a}, own: 2}\n"
                                        "  - {tables: [x*], like: {table: x one}, own: 4}\n");
  const TableExists exists = [](const std::string& device, const std::string& table) {
    return device == "b" || table == "x two";
  };
  EXPECT_FALSE(load_sharing_rule(path, "a", "y", exists));
  EXPECT_FALSE(load_sharing_rule(path, "b", "x one", exists));  // itself
  const auto from_a = load_sharing_rule(path, "b", "x two", exists);
  ASSERT_TRUE(from_a);
  EXPECT_EQ(from_a->like.device, "a");
  EXPECT_EQ(from_a->own, 2U);
  const auto from_table = load_sharing_rule(path, "b", "x three", exists);
  ASSERT_TRUE(from_table);
  EXPECT_EQ(from_table->like.table, "x one");
  EXPECT_EQ(from_table->like.device, "b");
}

TEST(SharingRule, AWrongPlanIsAMistakeWithItsLine) {
  const TemporaryFolder folder;
  const TableExists exists = [](const std::string&, const std::string&) { return true; };
  for (const char* text :
       {"sharing:\n  - {like: {device: a}}\n", "sharing:\n  - {lke: {device: a}, own: 1}\n",
        "sharing:\n  - {like: {chip: a}, own: 1}\n",
        "sharing:\n  - {like: {device: a}, own: many}\n"}) {
    EXPECT_THROW(load_sharing_rule(folder.write("plan.yaml", text), "b", "t", exists), UserError)
        << text;
  }
}

TEST(SharingOrder, TablesFollowThoseThatTheyAreLike) {
  const auto parent = [](const std::string& table) {
    return table == "a" ? "b" : (table == "b" ? "c" : "");
  };
  const auto groups = sharing_order({"a", "b", "c", "d"}, parent);
  EXPECT_EQ(groups, (std::vector<std::vector<std::string>>{{"c", "d"}, {"b"}, {"a"}}));
  EXPECT_THROW(sharing_order({"a", "b"}, [](const std::string& t) { return t == "a" ? "b" : "a"; }),
               UserError);
}

}  // namespace
}  // namespace foretell
