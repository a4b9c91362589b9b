#include "model/timing/cpu/cpu_interval.hpp"

#include <algorithm>

#include "model/timing/shared/chain_interval.hpp"

namespace foretell {
namespace {

std::pair<double, double> widest(const CpuIntervals& intervals) {
  std::pair<double, double> most{1, 1};
  for (const auto& [name, interval] : intervals.by_class) {
    most = {std::min(most.first, interval.first), std::max(most.second, interval.second)};
  }
  return most;
}

}  // namespace

std::pair<double, double> chain_interval80(const std::vector<CpuTimePart>& parts,
                                           const CpuIntervals& intervals) {
  const std::pair<double, double> otherwise = widest(intervals);
  std::vector<ChainPart> chain;
  for (const CpuTimePart& part : parts) {
    const auto known = intervals.by_class.find(part.op_class);
    chain.push_back({part.op_class + '\n' + part.name, part.time,
                     known == intervals.by_class.end() ? otherwise : known->second});
  }
  return chain_interval80(chain, intervals.correlation);
}

}  // namespace foretell
