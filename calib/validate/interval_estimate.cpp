#include "calib/validate/interval_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kLowTail = 0.1;
constexpr double kHighTail = 0.9;
constexpr double kWanted = 0.8;
constexpr double kMaxWidening = 3;
constexpr double kWidening = 1.02;  // one step of a power
constexpr double kMoving = 1.002;   // one of a factor

// (ratio, weight) in ascending order; the weights sum to 1.
using Weighted = std::vector<std::pair<double, double>>;

Weighted weighted_ratios(const std::vector<RatioSample>& samples) {
  std::map<std::string, int> rows;
  for (const RatioSample& sample : samples) {
    FORETELL_CHECK(sample.ratio > 0, "a ratio of times must be above zero");
    ++rows[sample.network];
  }
  Weighted ratios;
  for (const RatioSample& sample : samples) {
    const double per_network = 1 / static_cast<double>(rows.size());
    ratios.emplace_back(sample.ratio, per_network / rows[sample.network]);
  }
  std::sort(ratios.begin(), ratios.end());
  return ratios;
}

// Linear between the middles of the samples' shares, as an unweighted quantile is.
double weighted_quantile(const Weighted& ratios, double q) {
  double before = 0;
  double last_middle = 0;
  double last_ratio = ratios.front().first;
  for (const auto& [ratio, weight] : ratios) {
    const double middle = before + weight / 2;
    if (middle >= q) {
      if (middle <= last_middle) return ratio;
      const double share = std::clamp((q - last_middle) / (middle - last_middle), 0.0, 1.0);
      return last_ratio + share * (ratio - last_ratio);
    }
    before += weight;
    last_middle = middle;
    last_ratio = ratio;
  }
  return last_ratio;
}

// The rows of one network, and what the others alone make of them.
struct LeftOut {
  std::vector<RatioSample> rows;
  Interval of_others;
};

// One for each network when there are two or more.
std::vector<LeftOut> left_out_in_turn(const std::vector<RatioSample>& samples) {
  std::map<std::string, std::vector<RatioSample>> by_network;
  for (const RatioSample& sample : samples) by_network[sample.network].push_back(sample);
  std::vector<LeftOut> sides;
  if (by_network.size() < 2) return sides;
  for (auto& [network, rows] : by_network) {
    std::vector<RatioSample> others;
    for (const RatioSample& sample : samples) {
      if (sample.network != network) others.push_back(sample);
    }
    sides.push_back({std::move(rows), estimate_interval80(others)});
  }
  return sides;
}

Interval wider(const Interval& interval, double by) {
  return {std::pow(interval.low, by), std::pow(interval.high, by)};
}

Interval farther_apart(const Interval& interval, double by) {
  return {interval.low / by, interval.high * by};
}

// The least widening with which intervals of others hold 80 % of the rows left out, every network
// counting the same; 1 where none up to `kMaxWidening` does. `left_out`: what each holds then.
template <class Widen>
double least_widening(const std::vector<LeftOut>& sides, const Widen& widen, double step,
                      std::map<std::string, double>& left_out) {
  for (double by = 1; by <= kMaxWidening; by *= step) {
    double inside = 0;
    for (const LeftOut& side : sides) {
      const double share = coverage_of(side.rows, widen(side.of_others, by));
      left_out[side.rows.front().network] = share;
      inside += share;
    }
    if (inside >= kWanted * static_cast<double>(sides.size())) return by;
  }
  return 1;
}

}  // namespace

Interval estimate_interval80(const std::vector<RatioSample>& samples) {
  FORETELL_CHECK(!samples.empty(), "an interval needs samples");
  const Weighted ratios = weighted_ratios(samples);
  return {std::min(1.0, weighted_quantile(ratios, kLowTail)),
          std::max(1.0, weighted_quantile(ratios, kHighTail))};
}

double coverage_of(const std::vector<RatioSample>& samples, const Interval& interval) {
  FORETELL_CHECK(!samples.empty(), "a coverage needs samples");
  const auto inside =
      std::count_if(samples.begin(), samples.end(), [&interval](const RatioSample& sample) {
        return interval.low <= sample.ratio && sample.ratio <= interval.high;
      });
  return static_cast<double>(inside) / static_cast<double>(samples.size());
}

double leave_one_out_coverage(const std::vector<RatioSample>& samples) {
  const std::vector<LeftOut> sides = left_out_in_turn(samples);
  FORETELL_CHECK(sides.size() >= 2, "leaving one network out needs two");
  double inside = 0;
  for (const LeftOut& side : sides) {
    inside += static_cast<double>(side.rows.size()) * coverage_of(side.rows, side.of_others);
  }
  return inside / static_cast<double>(samples.size());
}

WidenedInterval widen_interval80(const std::vector<RatioSample>& samples) {
  WidenedInterval widened;
  widened.by = least_widening(left_out_in_turn(samples), wider, kWidening, widened.left_out);
  widened.interval = wider(estimate_interval80(samples), widened.by);
  return widened;
}

Interval widened_interval80(const std::vector<RatioSample>& samples) {
  std::map<std::string, double> left_out;
  const double by = least_widening(left_out_in_turn(samples), farther_apart, kMoving, left_out);
  return farther_apart(estimate_interval80(samples), by);
}

}  // namespace foretell
