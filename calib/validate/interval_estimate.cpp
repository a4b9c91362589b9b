#include "calib/validate/interval_estimate.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

constexpr double kLowTail = 0.1;
constexpr double kHighTail = 0.9;

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
  std::map<std::string, std::pair<std::vector<RatioSample>, std::vector<RatioSample>>> sides;
  for (const RatioSample& sample : samples) sides[sample.network];
  FORETELL_CHECK(sides.size() >= 2, "leaving one network out needs two");
  double inside = 0;
  for (auto& [network, side] : sides) {
    for (const RatioSample& sample : samples) {
      (sample.network == network ? side.first : side.second).push_back(sample);
    }
    const auto rows = static_cast<double>(side.first.size());
    inside += rows * coverage_of(side.first, estimate_interval80(side.second));
  }
  return inside / static_cast<double>(samples.size());
}

}  // namespace foretell
