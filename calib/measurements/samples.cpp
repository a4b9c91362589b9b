#include "calib/measurements/samples.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

double share_below(std::vector<double> samples, double q) {
  std::sort(samples.begin(), samples.end());
  const double position = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  const double part = position - static_cast<double>(below);
  return samples[below] + part * (samples[above] - samples[below]);
}

}  // namespace

SampleSummary summarise(std::vector<double> samples) {
  FORETELL_CHECK(!samples.empty(), "a summary of nothing");
  for (const double sample : samples) {
    FORETELL_CHECK(std::isfinite(sample) && sample > 0, "a measured time has to be above zero");
  }
  SampleSummary summary;
  summary.repeats = static_cast<int>(samples.size());
  summary.median = share_below(samples, 0.5);
  summary.spread = (share_below(samples, 0.9) - share_below(samples, 0.1)) / summary.median;
  return summary;
}

}  // namespace foretell
