#include "model/app/study/pareto.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using Point = std::vector<double>;

// Everything is minimised from here on.
std::vector<Point> minimised(const std::vector<Point>& points, const std::vector<bool>& maximise) {
  std::vector<Point> result = points;
  for (Point& point : result) {
    FORETELL_CHECK(point.size() == maximise.size(), "a point with other objectives");
    for (std::size_t d = 0; d < point.size(); ++d) {
      if (maximise[d]) point[d] = -point[d];
    }
  }
  return result;
}

// At least as good in everything.
bool covers(const Point& a, const Point& b) {
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (a[d] > b[d]) return false;
  }
  return true;
}

// The same but for a share of its value.
bool nearly_covers(const Point& a, const Point& b, double share) {
  for (std::size_t d = 0; d < a.size(); ++d) {
    if (a[d] > b[d] + share * std::abs(b[d])) return false;
  }
  return true;
}

}  // namespace

std::vector<std::size_t> pareto_front(const std::vector<std::vector<double>>& points,
                                      const std::vector<bool>& maximise) {
  const std::vector<Point> costs = minimised(points, maximise);
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Whatever beats a point stands before it.
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return costs[a] < costs[b]; });
  std::vector<std::size_t> front;
  const bool two = maximise.size() <= 2;
  for (const std::size_t candidate : order) {
    const auto beats = [&](std::size_t other) { return covers(costs[other], costs[candidate]); };
    const bool beaten = two ? !front.empty() && beats(front.back())
                            : std::any_of(front.begin(), front.end(), beats);
    if (!beaten) front.push_back(candidate);
  }
  std::sort(front.begin(), front.end());
  return front;
}

std::vector<std::size_t> distinct_front(const std::vector<std::vector<double>>& points,
                                        const std::vector<bool>& maximise, double share) {
  const std::vector<Point> costs = minimised(points, maximise);
  std::vector<std::size_t> order = pareto_front(points, maximise);
  // The best of all objectives together first, so that what gains by noise alone is what goes.
  const auto together = [&](std::size_t place) {
    double sum = 0;
    for (const double cost : costs[place]) {
      if (cost != 0) sum += cost > 0 ? std::log(cost) : -std::log(-cost);
    }
    return sum;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return together(a) < together(b); });
  std::vector<std::size_t> front;
  for (const std::size_t place : order) {
    const auto stands_for = [&](std::size_t kept) {
      return nearly_covers(costs[kept], costs[place], share);
    };
    if (std::none_of(front.begin(), front.end(), stands_for)) front.push_back(place);
  }
  std::sort(front.begin(), front.end());
  return front;
}

}  // namespace foretell
