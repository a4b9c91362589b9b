#include "model/timing/cpu_interval.hpp"

#include <algorithm>
#include <cmath>

namespace foretell {
namespace {

using Bounds = std::pair<double, double>;  // logarithms of the ends, as lengths above zero

Bounds lengths_of(const std::pair<double, double>& interval) {
  return {std::max(0.0, -std::log(interval.first)), std::max(0.0, std::log(interval.second))};
}

Bounds widest(const CpuIntervals& intervals) {
  Bounds most{0, 0};
  for (const auto& [name, interval] : intervals.by_class) {
    const Bounds bounds = lengths_of(interval);
    most = {std::max(most.first, bounds.first), std::max(most.second, bounds.second)};
  }
  return most;
}

}  // namespace

std::pair<double, double> chain_interval80(const std::vector<CpuTimePart>& parts,
                                           const CpuIntervals& intervals) {
  Seconds all;
  std::map<std::pair<std::string, std::string>, Seconds> distinct;
  for (const CpuTimePart& part : parts) {
    all += part.time;
    distinct[{part.op_class, part.name}] += part.time;
  }
  if (!(all > Seconds(0))) return {1, 1};
  Bounds together{0, 0};
  Bounds squares{0, 0};
  for (const auto& [key, time] : distinct) {
    const auto known = intervals.by_class.find(key.first);
    const Bounds bounds =
        known == intervals.by_class.end() ? widest(intervals) : lengths_of(known->second);
    const double below = time / all * bounds.first;
    const double above = time / all * bounds.second;
    together = {together.first + below, together.second + above};
    squares = {squares.first + below * below, squares.second + above * above};
  }
  const double r = intervals.correlation;
  const auto length = [r](double sum, double square) {
    return std::sqrt(r * sum * sum + (1 - r) * square);
  };
  return {std::exp(-length(together.first, squares.first)),
          std::exp(length(together.second, squares.second))};
}

}  // namespace foretell
