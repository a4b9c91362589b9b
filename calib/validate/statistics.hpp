// How far predictions are from measurements.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

// One measurement and its prediction, in the same unit. Both are above zero.
struct Comparison {
  double measured = 0;
  double predicted = 0;
  std::optional<Interval> interval80;  // of the prediction
};

// predicted / measured - 1: above zero when the prediction is too high.
double relative_error(const Comparison& comparison);

// Errors are shares (0.05 is 5 %). Quantiles interpolate linearly between order statistics.
struct Accuracy {
  std::size_t n = 0;
  double mape = 0;    // mean of |relative error|
  double median = 0;  // of |relative error|
  double p90 = 0;     // of |relative error|
  double bias = 0;    // mean of the relative error, with its sign
  double ratio10 =
      0;  // 10th and 90th percentile of measured / predicted: the interval that 80 % of
  double ratio90 = 0;              // these measurements lie in
  std::optional<double> coverage;  // share of the measurements inside the 80 % interval, of those
                                   // that have one
};

// At least one comparison.
Accuracy accuracy_of(const std::vector<Comparison>& comparisons);
// "MAPE 4.50 %, median 3.32 %, p90 9.84 %, bias -0.82 %", with this many digits after the point.
std::string accuracy_text(const Accuracy& accuracy, int digits);

// The q-quantile (0…1) of unsorted values, at least one.
double quantile(std::vector<double> values, double q);

}  // namespace foretell
