// Discrete distributions: of lengths that vary from call to call, of the trips of a loop, of times.
#pragma once

#include <cstddef>
#include <vector>

namespace foretell {

class Distribution {
 public:
  struct Point {
    double value = 0;
    double probability = 0;
  };

  // Weights of any scale; those of equal values add up, values of weight 0 are left out. UserError
  // without a weight above 0, and for a weight below 0.
  explicit Distribution(std::vector<Point> weighted);
  static Distribution certain(double value) { return Distribution({{value, 1}}); }
  // Every whole step-th number from `low` to `high`, equally likely. Requires low <= high, step >
  // 0.
  static Distribution uniform(double low, double high, double step = 1);

  // Ascending, each value once; the probabilities sum to 1.
  const std::vector<Point>& points() const { return points_; }
  bool is_certain() const { return points_.size() == 1; }
  double lowest() const { return points_.front().value; }
  double highest() const { return points_.back().value; }
  double mean() const;
  // The smallest value that is not exceeded with at least the probability `share` of 0…1.
  double quantile(double share) const;

 private:
  std::vector<Point> points_;
};

// Sums of many outcomes are kept to this many points: neighbours become one point at their mean, so
// that the mean stays exact and quantiles move by less than 1/4096 of the range.
inline constexpr std::size_t kMaxValues = 4096;

// The distribution of the sum of two independent numbers.
Distribution sum(const Distribution& a, const Distribution& b);

// One of several distributions by weights that are at least 0 and do not sum to 0.
struct WeightedDistribution {
  double weight = 0;
  Distribution distribution;
};
Distribution mixture(const std::vector<WeightedDistribution>& parts);

// The distribution of the sum of as many independent numbers as `count` says, whole numbers from 0
// on. UserError when the numbers vary and there are more than kMaxTerms of them.
inline constexpr double kMaxTerms = 10'000;
Distribution repeated_sum(const Distribution& count, const Distribution& term);

}  // namespace foretell
