// The 80 % interval of predictions from measurements that no factor was fitted to, and how often
// it holds on networks that did not take part in making it.
#pragma once

#include <map>
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

// The same for families of shapes, of which there may be few: as much wider, in logarithms and on
// both sides alike, as families that are left out show it has to be. Every family in turn is judged
// by the interval of the others, and with the least widening that is at least 1 the intervals hold
// 80 % of the rows left out, every family counting the same. With one family, and with none that is
// held by any widening up to 3, the interval stays as it is.
struct WidenedInterval {
  Interval interval;
  double by = 1;                           // power that both ends were raised to
  std::map<std::string, double> left_out;  // share of its rows that the others' interval holds
};
WidenedInterval widen_interval80(const std::vector<RatioSample>& samples);

// The same with both ends moved by the same factor in place of the same power. The next family of
// kernels is off by an amount of its own, to either side alike; where errors so far lie on one side
// a power moves the far end alone (2.1 to 9.4) and never the end at 1, which is the one that fails.
Interval widened_interval80(const std::vector<RatioSample>& samples);

// Share of the samples that lie in the interval.
double coverage_of(const std::vector<RatioSample>& samples, const Interval& interval);

// The same when the interval that judges a network is made from the others alone; an interval that
// is tried on the rows that made it holds 80 % of them by construction. At least two networks.
double leave_one_out_coverage(const std::vector<RatioSample>& samples);

}  // namespace foretell
