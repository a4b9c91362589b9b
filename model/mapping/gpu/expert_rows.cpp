#include "model/mapping/gpu/expert_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kReach = 10;  // standard deviations beyond which nothing counts

// Smallest numbers whose chances add up to the quantiles, in ascending order.
std::vector<std::int64_t> quantiles(std::int64_t rows, std::int64_t experts) {
  const auto n = static_cast<double>(rows);
  const double chance = 1 / static_cast<double>(experts);
  const double mean = n * chance;
  const double reach = kReach * std::sqrt(mean * (1 - chance)) + 1;
  const auto log_chance = [&](double k) {
    return std::lgamma(n + 1) - std::lgamma(k + 1) - std::lgamma(n - k + 1) + k * std::log(chance) +
           (n - k) * std::log1p(-chance);
  };
  std::vector<std::int64_t> result;
  double below = 0;
  for (double k = std::max(0.0, std::floor(mean - reach)); k <= n; ++k) {
    below += std::exp(log_chance(k));
    while (result.size() < static_cast<std::size_t>(experts) &&
           (static_cast<double>(result.size()) + 0.5) * chance <= below) {
      result.push_back(static_cast<std::int64_t>(k));
    }
    if (k > mean + reach) break;
  }
  result.resize(static_cast<std::size_t>(experts), rows);
  return result;
}

}  // namespace

std::vector<std::int64_t> expert_rows(std::int64_t rows, std::int64_t experts) {
  FORETELL_CHECK(rows > 0 && experts > 0, "experts with rows");
  if (experts == 1) return {rows};
  std::vector<std::int64_t> sorted = quantiles(rows, experts);
  std::int64_t rest = rows - std::accumulate(sorted.begin(), sorted.end(), std::int64_t{0});
  for (std::size_t i = sorted.size(); rest != 0; i = i == 0 ? sorted.size() : i) {
    --i;
    const std::int64_t change = rest > 0 ? 1 : -1;
    if (sorted[i] + change < 0) continue;
    sorted[i] += change;
    rest -= change;
  }
  std::vector<std::int64_t> result;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::int64_t taken = sorted[i % 2 == 0 ? i / 2 : sorted.size() - 1 - i / 2];
    if (taken > 0) result.push_back(taken);
  }
  return result;
}

}  // namespace foretell
