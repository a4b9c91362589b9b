#include "workloads/traffic/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

Load open_load(const char* arrivals, double rate, std::int64_t requests) {
  Load load;
  load.arrivals = parse_arrivals(arrivals, rate);
  load.requests = requests;
  load.input_len = Distribution::uniform(10, 20);
  load.output_len = Distribution::certain(5);
  return load;
}

struct Gaps {
  double mean = 0;
  double variation = 0;
};

Gaps gaps_of(const Load& load) {
  RequestSource source(load);
  double last = 0;
  double sum = 0;
  double squares = 0;
  for (std::int64_t i = 0; i < load.requests; ++i) {
    const double at = source.next().arrival_s;
    sum += at - last;
    squares += (at - last) * (at - last);
    last = at;
  }
  const auto n = static_cast<double>(load.requests);
  const double mean = sum / n;
  return {mean, std::sqrt(squares / n - mean * mean) / mean};
}

TEST(Load, GapsHaveTheRateAndTheVariationOfTheirKind) {
  constexpr std::int64_t kMany = 200'000;
  for (const auto& [kind, variation] :
       {std::pair<const char*, double>{"poisson", 1}, {"gamma:2", 2}, {"gamma:0.5", 0.5}}) {
    const Gaps gaps = gaps_of(open_load(kind, 4, kMany));
    EXPECT_NEAR(gaps.mean, 0.25, 0.25 * 0.02) << kind;
    EXPECT_NEAR(gaps.variation, variation, 0.03 * variation) << kind;
  }
  const Gaps even = gaps_of(open_load("uniform", 4, 1000));
  EXPECT_NEAR(even.mean, 0.25, 1e-9);
  EXPECT_NEAR(even.variation, 0, 1e-6);
}

TEST(Load, BurstsComeTogetherAtTheRate) {
  const Load load = open_load("burst:8", 4, 33);
  RequestSource source(load);
  for (int i = 0; i < 33; ++i) EXPECT_NEAR(source.next().arrival_s, (i / 8) * 2.0, 1e-9) << i;
}

TEST(Load, LengthsFollowTheirDistributionAndTheSeed) {
  Load load = open_load("poisson", 1, 50'000);
  RequestSource source(load);
  double sum = 0;
  for (std::int64_t i = 0; i < load.requests; ++i) {
    const TrafficRequest request = source.next();
    EXPECT_GE(request.input_len, 10);
    EXPECT_LE(request.input_len, 20);
    EXPECT_EQ(request.output_len, 5);
    sum += request.input_len;
  }
  EXPECT_NEAR(sum / 50'000, 15, 0.05);
  RequestSource again(load);
  RequestSource other_arrivals(load);
  load.seed = 1;
  RequestSource other(load);
  int different = 0;
  for (int i = 0; i < 100; ++i) {
    const auto first = again.next().input_len;
    EXPECT_EQ(first, other_arrivals.next().input_len);
    different += first != other.next().input_len ? 1 : 0;
  }
  EXPECT_GT(different, 50);
}

TEST(Load, ArrivalsThatCannotBeAreRefused) {
  for (const char* wrong :
       {"poison", "gamma", "gamma:", "gamma:-1", "gamma:x", "burst:0", "burst:", "burst:1e9", ""}) {
    EXPECT_THROW(parse_arrivals(wrong, 1), UserError) << wrong;
  }
}

}  // namespace
}  // namespace foretell
