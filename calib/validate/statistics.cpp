#include "calib/validate/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {

double relative_error(const Comparison& comparison) {
  FORETELL_CHECK(comparison.measured > 0, "a measurement must be above zero");
  return comparison.predicted / comparison.measured - 1;
}

double quantile(std::vector<double> values, double q) {
  FORETELL_CHECK(!values.empty(), "a quantile needs values");
  std::sort(values.begin(), values.end());
  const double position = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(std::floor(position));
  const std::size_t above = std::min(below + 1, values.size() - 1);
  const double share = position - std::floor(position);
  return values[below] * (1 - share) + values[above] * share;
}

Accuracy accuracy_of(const std::vector<Comparison>& comparisons) {
  FORETELL_CHECK(!comparisons.empty(), "an accuracy needs comparisons");
  std::vector<double> errors;
  std::vector<double> ratios;
  Accuracy accuracy;
  std::size_t with_interval = 0;
  std::size_t inside = 0;
  for (const Comparison& comparison : comparisons) {
    const double error = relative_error(comparison);
    FORETELL_CHECK(comparison.predicted > 0, "a prediction must be above zero");
    errors.push_back(std::abs(error));
    ratios.push_back(comparison.measured / comparison.predicted);
    accuracy.mape += std::abs(error);
    accuracy.bias += error;
    if (!comparison.interval80) continue;
    ++with_interval;
    const Interval& interval = *comparison.interval80;
    if (interval.low <= comparison.measured && comparison.measured <= interval.high) ++inside;
  }
  accuracy.n = comparisons.size();
  accuracy.mape /= static_cast<double>(accuracy.n);
  accuracy.bias /= static_cast<double>(accuracy.n);
  accuracy.median = quantile(errors, 0.5);
  accuracy.p90 = quantile(errors, 0.9);
  accuracy.ratio10 = quantile(ratios, 0.1);
  accuracy.ratio90 = quantile(ratios, 0.9);
  if (with_interval > 0) {
    accuracy.coverage = static_cast<double>(inside) / static_cast<double>(with_interval);
  }
  return accuracy;
}

std::string accuracy_text(const Accuracy& accuracy, int digits) {
  constexpr double kPercent = 100;
  return fmt::format("MAPE {1:.{0}f} %, median {2:.{0}f} %, p90 {3:.{0}f} %, bias {4:+.{0}f} %",
                     digits, accuracy.mape * kPercent, accuracy.median * kPercent,
                     accuracy.p90 * kPercent, accuracy.bias * kPercent);
}

}  // namespace foretell
