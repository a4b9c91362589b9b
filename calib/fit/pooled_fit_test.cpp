#include "calib/fit/pooled_fit.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "calib/fitted/gpu/attention_factors.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

// Kernels whose time is known in closed form, at sizes 1 to 8.
class PooledFitTest : public testing::Test {
 protected:
  using Values = std::map<std::string, double>;
  struct Kernel {
    AttentionFactors factors;
    FieldList list;
    std::vector<double> measured;
  };

  static std::vector<double> times(const AttentionFactors& factors) {
    std::vector<double> seconds;
    for (int size = 1; size <= 8; ++size) {
      seconds.push_back(factors.launch.value() * 1e6 + factors.score.value() * size * 0.01 +
                        size * size / factors.mma_efficiency * 0.1);
    }
    return seconds;
  }

  // A table of a kernel that takes what `truth` says, known by `start`.
  void add(const Values& truth, const Values& start, std::optional<std::size_t> parent,
           double gives) {
    kernels_.push_back(std::make_unique<Kernel>());
    Kernel& kernel = *kernels_.back();
    fields(kernel.list, kernel.factors);
    assign(kernel, truth);
    kernel.measured = times(kernel.factors);
    PooledTable table;
    table.name = "table " + std::to_string(tables.size());
    table.parent = parent;
    table.start = start;
    table.fields = &kernel.list;
    table.loss = [&kernel] {
      const std::vector<double> predicted = times(kernel.factors);
      double sum = 0;
      for (std::size_t i = 0; i < predicted.size(); ++i) {
        sum += std::abs(predicted[i] / kernel.measured[i] - 1);
      }
      return sum / static_cast<double>(predicted.size());
    };
    assign(kernel, start);
    table.most = table.loss() + gives;
    tables.push_back(std::move(table));
  }

  // What the tables, of a name each on a chip of its own, have in common.
  void add_common(const std::vector<std::size_t>& of) {
    PooledTable common;
    common.name = "common";
    common.fields = tables[of.front()].fields;
    for (const std::size_t t : of) tables[t].common = tables.size();
    tables.push_back(std::move(common));
  }

  static void assign(Kernel& kernel, const Values& values) {
    for (const auto& [name, value] : values) {
      const Field& field = kernel.list.at(name);
      field.assign(format_quantity(value, field.dimension));
    }
  }

  static std::size_t count(const PooledFit& fit) {
    std::size_t sum = 0;
    for (const auto& own : fit.own) sum += own.size();
    return sum;
  }

  std::vector<PooledTable> tables;

 private:
  std::vector<std::unique_ptr<Kernel>> kernels_;
};

const std::map<std::string, double> kOne = {
    {"launch", 5e-6}, {"score", 100}, {"mma_efficiency", 0.5}};

TEST_F(PooledFitTest, EqualKernelsThatWereFittedApartShareEveryValue) {
  add(kOne, {{"launch", 5.1e-6}, {"score", 90}, {"mma_efficiency", 0.49}}, std::nullopt, 1e-3);
  add(kOne, {{"launch", 4.8e-6}, {"score", 115}, {"mma_efficiency", 0.51}}, 0, 1e-3);
  add(kOne, {{"launch", 5.2e-6}, {"score", 85}, {"mma_efficiency", 0.48}}, 1, 1e-3);
  const PooledFit fit = fit_pooled(tables, {});
  EXPECT_EQ(count(fit), 3U);
  EXPECT_EQ(fit.own[0].size(), 3U);
  EXPECT_EQ(fit.values[2], fit.values[0]);
}

TEST_F(PooledFitTest, WhatDiffersStaysItsOwn) {
  std::map<std::string, double> other = kOne;
  other["mma_efficiency"] = 0.3;
  add(kOne, kOne, std::nullopt, 1e-3);
  add(other, other, 0, 1e-3);
  const PooledFit fit = fit_pooled(tables, {});
  EXPECT_EQ(fit.own[1].size(), 1U);
  EXPECT_NEAR(fit.values[1].at("mma_efficiency"), 0.3, 0.01);
  for (std::size_t t = 0; t < tables.size(); ++t) EXPECT_LE(fit.losses[t], tables[t].most);
}

TEST_F(PooledFitTest, NoMeanAndNoTableLosesMoreThanItMay) {
  std::map<std::string, double> other = kOne;
  other["mma_efficiency"] = 0.45;
  other["launch"] = 5.5e-6;
  for (const double gives : {0.0, 0.01, 0.03, 0.2}) {
    tables.clear();
    add(kOne, kOne, std::nullopt, gives);
    add(other, other, 0, gives);
    const PooledFit fit = fit_pooled(tables, {gives / 2});
    double mean = 0;
    for (std::size_t t = 0; t < tables.size(); ++t) {
      EXPECT_LE(fit.losses[t], tables[t].most + 1e-9);
      mean += fit.losses[t] / 2;
    }
    EXPECT_LE(mean, gives / 2 + 1e-9);
  }
}

TEST_F(PooledFitTest, MorePointsNeverLeaveMoreValues) {
  std::map<std::string, double> other = kOne;
  other["mma_efficiency"] = 0.45;
  other["score"] = 130;
  std::size_t before = 100;
  for (const double gives : {1e-4, 0.02, 0.5}) {
    tables.clear();
    add(kOne, kOne, std::nullopt, gives);
    add(other, other, 0, gives);
    const std::size_t left = count(fit_pooled(tables, {gives}));
    EXPECT_LE(left, before);
    before = left;
  }
  EXPECT_EQ(before, 3U);
}

TEST_F(PooledFitTest, AFactorThatTheParentDoesWithoutIsKept) {
  add({{"launch", 5e-6}, {"mma_efficiency", 0.5}}, {{"launch", 5e-6}, {"mma_efficiency", 0.5}},
      std::nullopt, 1);
  add(kOne, kOne, 0, 1);
  const PooledFit fit = fit_pooled(tables, {1});
  EXPECT_EQ(fit.own[1].count("score"), 1U);
  EXPECT_EQ(fit.values[0].count("score"), 0U);
}

TEST_F(PooledFitTest, ValuesOfAnotherChipAreTakenAndNotMoved) {
  add(kOne, {{"launch", 5.1e-6}, {"score", 98}, {"mma_efficiency", 0.5}}, std::nullopt, 0.01);
  tables[0].given = kOne;
  const PooledFit fit = fit_pooled(tables, {0.01});
  EXPECT_TRUE(fit.own[0].empty());
  EXPECT_EQ(fit.values[0], kOne);
}

TEST_F(PooledFitTest, FixedFactorsStayWhereTheyAre) {
  add(kOne, {{"launch", 7e-6}, {"score", 80}, {"mma_efficiency", 0.4}}, std::nullopt, 0.5);
  tables[0].fixed = {"launch"};
  const PooledFit fit = fit_pooled(tables, {0.5});
  EXPECT_DOUBLE_EQ(fit.values[0].at("launch"), 7e-6);
  EXPECT_NE(fit.values[0].at("score"), 80);
}

TEST_F(PooledFitTest, WhatIsEqualOnEveryChipStandsOnce) {
  std::map<std::string, double> other = kOne;
  other["mma_efficiency"] = 0.3;
  add(kOne, {{"launch", 5.1e-6}, {"score", 95}, {"mma_efficiency", 0.5}}, std::nullopt, 2e-3);
  add(other, {{"launch", 4.9e-6}, {"score", 105}, {"mma_efficiency", 0.3}}, std::nullopt, 2e-3);
  add_common({0, 1});
  const PooledFit fit = fit_pooled(tables, {1e-3});
  EXPECT_EQ(fit.own[2].size(), 2U);
  EXPECT_EQ(fit.own[2].count("mma_efficiency"), 0U);
  EXPECT_EQ(fit.values[0].at("launch"), fit.values[1].at("launch"));
  EXPECT_NEAR(fit.values[0].at("score"), 100, 10);
  EXPECT_NEAR(fit.values[1].at("mma_efficiency"), 0.3, 0.01);
  EXPECT_EQ(count(fit), 4U);
}

TEST_F(PooledFitTest, AChipUnlikeTheOthersKeepsItsOwn) {
  std::map<std::string, double> other = kOne;
  other["launch"] = 50e-6;
  add(kOne, kOne, std::nullopt, 1e-3);
  add(other, other, std::nullopt, 1e-3);
  add(kOne, kOne, std::nullopt, 1e-3);
  add_common({0, 1, 2});
  const PooledFit fit = fit_pooled(tables, {1e-3});
  EXPECT_EQ(fit.own[1].count("launch"), 1U);
  EXPECT_EQ(fit.own[3].count("launch"), 1U);
  EXPECT_EQ(count(fit), 4U);
}

TEST_F(PooledFitTest, AnotherChipOfTheGenerationComesBeforeWhatAllHave) {
  add(kOne, kOne, std::nullopt, 1);
  add(kOne, kOne, 0, 1);
  add_common({0, 1});
  tables[2].start = {{"launch", 1e-6}};
  std::map<std::string, double> first = kOne;
  first["launch"] = 5e-6;
  const PooledFit fit = fit_pooled(tables, {0});
  EXPECT_NEAR(fit.values[1].at("launch"), 5e-6, 1e-7);
  EXPECT_TRUE(fit.own[1].empty());
}

TEST_F(PooledFitTest, WhatOtherChipsTakeTooIsTakenAndNotMoved) {
  add(kOne, {{"launch", 5.2e-6}, {"score", 100}, {"mma_efficiency", 0.5}}, std::nullopt, 1);
  add_common({0});
  tables[1].start = {{"launch", 5.1e-6}};
  tables[1].is_closed = true;
  const PooledFit fit = fit_pooled(tables, {1});
  EXPECT_EQ(fit.values[0].at("launch"), 5.1e-6);
  EXPECT_EQ(fit.own[1].size(), 1U);
}

TEST_F(PooledFitTest, AFactorThatOneChipDoesWithoutIsNotInCommon) {
  std::map<std::string, double> less = kOne;
  less.erase("score");
  add(kOne, kOne, std::nullopt, 1);
  add(kOne, kOne, std::nullopt, 1);
  add(less, less, std::nullopt, 1);
  add_common({0, 1, 2});
  const PooledFit fit = fit_pooled(tables, {1});
  EXPECT_EQ(fit.own[3].count("score"), 0U);
  EXPECT_EQ(fit.values[2].count("score"), 0U);
}

TEST_F(PooledFitTest, AFactorThatRowsDoNotFeelCeasesToApply) {
  std::map<std::string, double> start = kOne;
  start["split"] = 500;  // no term of the kernel
  add(kOne, start, std::nullopt, 1e-3);
  add(kOne, start, 0, 1e-3);
  add(kOne, start, std::nullopt, 1e-3);
  tables[2].fixed = {"split"};
  PoolOptions options;
  options.ceases_below = 1e-4;
  const PooledFit fit = fit_pooled(tables, options);
  EXPECT_EQ(fit.values[0], kOne);
  EXPECT_EQ(fit.values[1], kOne);
  EXPECT_EQ(fit.values[2].at("split"), 500);  // what is fixed is known without the rows
}

TEST_F(PooledFitTest, WhatIsFeltDoesNotCease) {
  std::map<std::string, double> less = kOne;
  less.erase("score");
  add(less, less, std::nullopt, 1);
  add(kOne, kOne, 0, 1);
  PoolOptions options;
  options.mean_gives = 1;
  options.ceases_below = 1e-4;
  EXPECT_EQ(fit_pooled(tables, options).own[1].count("score"), 1U);
}

TEST_F(PooledFitTest, TablesThatAreLikeNoneTakeTheUsualValue) {
  std::map<std::string, double> other = kOne;
  other["launch"] = 50e-6;
  add(kOne, {{"launch", 5.1e-6}, {"score", 98}, {"mma_efficiency", 0.5}}, std::nullopt, 2e-3);
  add(kOne, {{"launch", 4.9e-6}, {"score", 102}, {"mma_efficiency", 0.5}}, std::nullopt, 2e-3);
  add(kOne, {{"launch", 5e-6}, {"score", 100}, {"mma_efficiency", 0.5}}, std::nullopt, 2e-3);
  add(other, other, std::nullopt, 2e-3);
  PooledTable usual;
  usual.name = "usual";
  tables.push_back(usual);
  PoolOptions options;
  options.mean_gives = 1e-3;
  options.usual = 4;
  const PooledFit fit = fit_pooled(tables, options);
  EXPECT_EQ(count(fit), 4U);  // three of the kind, and the launch of one kernel
  EXPECT_EQ(fit.own[4].size(), 3U);
  EXPECT_EQ(fit.own[3].count("launch"), 1U);
  EXPECT_NEAR(fit.values[3].at("launch"), 50e-6, 1e-6);
  EXPECT_EQ(fit.usual[0].count("launch"), 1U);
  EXPECT_NEAR(fit.own[4].at("launch"), 5e-6, 0.3e-6);
  EXPECT_EQ(fit.values[1].at("score"), fit.own[4].at("score"));
}

TEST_F(PooledFitTest, AUsualValueOfOneTableIsItsOwn) {
  for (const double launch : {5e-6, 20e-6, 80e-6}) {
    std::map<std::string, double> one = kOne;
    one["launch"] = launch;
    add(one, one, std::nullopt, 1e-3);
  }
  PooledTable usual;
  usual.name = "usual";
  tables.push_back(usual);
  PoolOptions options;
  options.usual = 3;
  const PooledFit fit = fit_pooled(tables, options);
  for (std::size_t t = 0; t < 3; ++t) EXPECT_EQ(fit.own[t].count("launch"), 1U);
  EXPECT_EQ(fit.own[3].count("launch"), 0U);
  EXPECT_EQ(fit.own[3].count("score"), 1U);
}

TEST_F(PooledFitTest, ParentsThatLeadBackAreRefused) {
  add(kOne, kOne, 1, 0);
  add(kOne, kOne, 0, 0);
  EXPECT_THROW(fit_pooled(tables, {}), InternalError);
}

}  // namespace
}  // namespace foretell
