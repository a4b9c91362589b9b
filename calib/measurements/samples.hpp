// What is kept of the repeats of one measurement.
#pragma once

#include <vector>

namespace foretell {

struct SampleSummary {
  double median = 0;  // in the unit of the samples
  double spread = 0;  // (p90 - p10) / median
  int repeats = 0;
};

// Quantiles lie between order statistics linearly. InternalError without samples, or with one that
// is not above zero.
SampleSummary summarise(std::vector<double> samples);

}  // namespace foretell
