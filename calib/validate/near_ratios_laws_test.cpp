#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "calib/validate/near_ratios.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kGrowth = 0.5;

// Groups that share a place, and every third with a place of its own, two octaves from theirs in a
// direction of its own, whose errors grow with it.
std::vector<GroupSample> drawn(unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<GroupSample> samples;
  for (std::size_t group = 0; group < 30; ++group) {
    const bool is_far = group % 3 == 0;
    Place place(10, 1);
    if (is_far) place[group / 3] = 4;
    for (int row = 0; row < 20; ++row) {
      const double error = (is_far ? 1 + 2 * kGrowth : 1) * 0.1 * normal(generator);
      samples.push_back({"g" + std::to_string(group), place, std::exp(error)});
    }
  }
  return samples;
}

double held(const std::vector<GroupSample>& samples, const Interval& interval, bool far) {
  double inside = 0;
  double rows = 0;
  const Place shared(10, 1);
  for (const GroupSample& sample : samples) {
    if ((sample.place != shared) != far) continue;
    const Interval here = at_distance(interval, kGrowth, 0, octaves_to(sample.place, {shared}));
    ++rows;
    if (here.low <= sample.ratio && sample.ratio <= here.high) ++inside;
  }
  return inside / rows;
}

// Rows near and far are held alike where errors grow as was said; near ones by a narrower interval
// than that of all rows as they are.
TEST(NearRatios, IntervalsHoldNearAndFarRowsAlike) {
  const std::vector<GroupSample> samples = drawn(3);
  const Interval made = estimate_interval80(as_near(samples, kGrowth).ratios);
  EXPECT_NEAR(held(samples, made, false), 0.8, 0.05);
  EXPECT_NEAR(held(samples, made, true), 0.8, 0.06);
  const Interval as_they_are = estimate_interval80(as_near(samples, 0).ratios);
  EXPECT_GT(std::log(as_they_are.high), std::log(made.high) * 1.05);
}

TEST(NearRatios, WithoutGrowthOrDistanceRatiosStayAsTheyAre) {
  const std::vector<GroupSample> samples = {{"a", {128, 12}, 1.2}, {"b", {128, 12}, 0.7}};
  EXPECT_DOUBLE_EQ(as_near(samples, 1).ratios[0].ratio, 1.2);
  EXPECT_DOUBLE_EQ(as_near(samples, 1).ratios[1].ratio, 0.7);
  EXPECT_EQ(as_near(samples, 1).places.size(), 1U);
  for (const GroupSample& sample : drawn(5)) {
    EXPECT_DOUBLE_EQ(as_near({sample}, 0).ratios[0].ratio, sample.ratio);
  }
}

// Going there and back leaves a row where it was.
TEST(NearRatios, AtItsDistanceTheIntervalOfARowIsTheRow) {
  const std::vector<GroupSample> samples = {{"a", {512}, 1.5}, {"b", {128}, 0.8}};
  const NearRatios near = as_near(samples, kGrowth);
  const Interval one{near.ratios[1].ratio, near.ratios[0].ratio};
  EXPECT_DOUBLE_EQ(at_distance(one, kGrowth, 0, 2).high, 1.5);
  EXPECT_DOUBLE_EQ(at_distance(one, kGrowth, 0, 2).low, 0.8);
  EXPECT_EQ(places_text(near.places), "[[128], [512]]");
}

TEST(NearRatios, ARatioOfNothingIsRefused) {
  EXPECT_THROW(as_near({{"a", {1}, 0.0}}, 0.2), InternalError);
}

}  // namespace
}  // namespace foretell
