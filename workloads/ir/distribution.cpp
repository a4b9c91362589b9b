#include "workloads/ir/distribution.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using Points = std::vector<Distribution::Point>;

// Rounding of sums must not push a share of 0.9 past the point that holds it.
constexpr double kRounding = 1e-12;

Points thinned(Points points) {
  std::sort(points.begin(), points.end(),
            [](const auto& a, const auto& b) { return a.value < b.value; });
  const double low = points.front().value;
  const double width = (points.back().value - low) / static_cast<double>(kMaxValues);
  if (points.size() <= kMaxValues || width <= 0) return points;
  Points groups;
  double group = -1;
  for (const Distribution::Point& point : points) {
    const double at = std::floor((point.value - low) / width);
    if (at != group) groups.push_back({0, 0});
    group = at;
    groups.back().value += point.value * point.probability;
    groups.back().probability += point.probability;
  }
  for (Distribution::Point& each : groups) each.value /= each.probability;
  return groups;
}

}  // namespace

Distribution::Distribution(std::vector<Point> weighted) : points_(std::move(weighted)) {
  double total = 0;
  for (const Point& point : points_) {
    if (!(point.probability >= 0) || !std::isfinite(point.probability))
      throw UserError("a weight is below 0; weights are shares of any scale, 0 or above");
    total += point.probability;
  }
  if (!(total > 0) || !std::isfinite(total))
    throw UserError("the weights sum to 0: no value can occur; give one of them a weight above 0");
  std::sort(points_.begin(), points_.end(),
            [](const Point& a, const Point& b) { return a.value < b.value; });
  std::vector<Point> merged;
  for (const Point& point : points_) {
    if (point.probability <= 0) continue;
    if (merged.empty() || merged.back().value < point.value) merged.push_back({point.value, 0});
    merged.back().probability += point.probability / total;
  }
  points_ = std::move(merged);
}

Distribution Distribution::uniform(double low, double high, double step) {
  std::vector<Point> points;
  for (double value = low; value <= high; value += step) points.push_back({value, 1});
  return Distribution(std::move(points));
}

double Distribution::mean() const {
  double mean = 0;
  for (const Point& point : points_) mean += point.value * point.probability;
  return mean;
}

double Distribution::quantile(double share) const {
  double sum = 0;
  for (const Point& point : points_) {
    sum += point.probability;
    if (sum >= share - kRounding) return point.value;
  }
  return points_.back().value;
}

Distribution sum(const Distribution& a, const Distribution& b) {
  Points points;
  points.reserve(a.points().size() * b.points().size());
  for (const Distribution::Point& x : a.points()) {
    for (const Distribution::Point& y : b.points())
      points.push_back({x.value + y.value, x.probability * y.probability});
  }
  return Distribution(thinned(std::move(points)));
}

Distribution mixture(const std::vector<WeightedDistribution>& parts) {
  Points points;
  for (const WeightedDistribution& part : parts) {
    if (part.weight < 0) throw UserError("a probability is below 0");
    if (part.weight == 0) continue;
    for (const Distribution::Point& point : part.distribution.points())
      points.push_back({point.value, part.weight * point.probability});
  }
  return Distribution(points.empty() ? points : thinned(std::move(points)));
}

Distribution repeated_sum(const Distribution& count, const Distribution& term) {
  Points points;
  if (term.is_certain()) {
    for (const Distribution::Point& times : count.points())
      points.push_back({times.value * term.lowest(), times.probability});
    return Distribution(std::move(points));
  }
  if (count.highest() > kMaxTerms)
    throw UserError("a loop whose trips differ in their time has more than 10000 trips");
  std::vector<WeightedDistribution> parts;
  Distribution so_far = Distribution::certain(0);
  double terms = 0;
  for (const Distribution::Point& times : count.points()) {
    for (; terms < times.value; ++terms) so_far = sum(so_far, term);
    parts.push_back({times.probability, so_far});
  }
  return mixture(parts);
}

}  // namespace foretell
