// The 80 % interval of predictions from measurements that no factor was fitted to, and how often
// it holds on networks that did not take part in making it.
#pragma once

#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

// One measurement against its prediction.
struct RatioSample {
  std::string network;
  double ratio = 1;  // measured / predicted, above zero
};

// The multiples of a prediction between which 80 % of the measurements lie, every network counting
// the same however many rows it has. The interval always holds 1. At least one sample.
Interval estimate_interval80(const std::vector<RatioSample>& samples);

// Share of the samples that lie in the interval.
double coverage_of(const std::vector<RatioSample>& samples, const Interval& interval);

// The same when the interval that judges a network is made from the others alone; an interval that
// is tried on the rows that made it holds 80 % of them by construction. At least two networks.
double leave_one_out_coverage(const std::vector<RatioSample>& samples);

}  // namespace foretell
