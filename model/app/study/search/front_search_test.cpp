#include "model/app/study/search/front_search.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "model/app/study/testing/front_area.hpp"

namespace foretell {
namespace {

// A machine of 10 x 10 x 10 x 10 choices: time falls with each resource as far as it is the
// bottleneck, price rises with all of them.
std::vector<double> time_and_price(const GridPoint& point) {
  const auto rate = [&point](std::size_t i) {
    return std::pow(1.25, static_cast<double>(point[i]));
  };
  const double time = std::max({3 / rate(0), 2 / rate(1), 1 / rate(2)}) + 0.3 / rate(3);
  const double price = rate(0) + 0.7 * rate(1) + 0.5 * rate(2) + 0.2 * rate(3);
  return {time, price};
}

struct Outcome {
  std::vector<std::vector<double>> found;
  std::set<GridPoint> asked;
};

Outcome run(std::uint64_t seed, std::size_t evaluations) {
  Outcome outcome;
  FrontSearch search;
  search.sizes = {10, 10, 10, 10};
  search.objectives = 2;
  search.evaluations = evaluations;
  search.seed = seed;
  search.evaluate = [&outcome](const std::vector<GridPoint>& points) {
    std::vector<std::vector<double>> answers;
    for (const GridPoint& point : points) {
      EXPECT_TRUE(outcome.asked.insert(point).second) << "asked twice";
      answers.push_back(time_and_price(point));
      outcome.found.push_back(answers.back());
    }
    return answers;
  };
  search_front(search);
  return outcome;
}

TEST(FrontSearch, FindsTheFrontInATenthOfThePoints) {
  std::vector<std::vector<double>> all;
  std::vector<double> worst = {0, 0};
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    all.push_back(time_and_price({i % 10, i / 10 % 10, i / 100 % 10, i / 1000}));
    for (std::size_t d = 0; d < 2; ++d) worst[d] = std::max(worst[d], all.back()[d]);
  }
  const double whole = front_area(all, worst);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const Outcome outcome = run(seed, 1000);
    EXPECT_LE(outcome.asked.size(), 1000U);
    EXPECT_GE(front_area(outcome.found, worst), 0.95 * whole);
  }
}

TEST(FrontSearch, TheSameSeedGivesTheSamePoints) {
  EXPECT_EQ(run(4, 200).found, run(4, 200).found);
}

TEST(FrontSearch, FewEvaluationsAreKeptTo) { EXPECT_LE(run(1, 5).asked.size(), 5U); }

TEST(FrontSearch, AnAnswerThatIsShortEndsIt) {
  FrontSearch search;
  search.sizes = {100, 1};
  search.objectives = 1;
  search.evaluations = 50;
  int calls = 0;
  search.evaluate = [&calls](const std::vector<GridPoint>&) {
    ++calls;
    return std::vector<std::vector<double>>();
  };
  search_front(search);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace foretell
