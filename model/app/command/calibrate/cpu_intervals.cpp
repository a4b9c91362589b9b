#include "model/app/command/calibrate/cpu_intervals.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "calib/validate/interval_estimate.hpp"
#include "model/timing/cpu/cpu_interval.hpp"
#include "model/timing/cpu/cpu_operator.hpp"

namespace foretell {
namespace {

constexpr double kMicroseconds = 1e6;
constexpr int kSteps = 20;         // of the correlation from 0 to 1
constexpr double kWanted = 0.8;    // share of the rows in their intervals
constexpr std::size_t kLeast = 4;  // families that the interval of a class needs

bool is_block(const CpuRow& row) { return operator_class(row.op) == "block"; }

bool in_first_half(const CpuRow& row) { return (row.family >> 3U) % 2 == 0; }

Interval interval_of(const CpuSystemSpec& system, const CpuFactors& factors,
                     const CpuIntervals& intervals, const CpuRow& row) {
  const CpuTiming timing(system, factors, row.threads);
  std::vector<CpuTimePart> parts;
  Seconds all;
  for (const Loop& loop : loops_of(timing, row.op)) {
    const Seconds time = loop_time(loop);
    parts.push_back({loop.name, is_block(row) ? loop.op_class : operator_class(row.op), time});
    all += time;
  }
  const auto [low, high] = chain_interval80(parts, intervals);
  const double us = all.value() * kMicroseconds;
  return {low * us, high * us};
}

double share_inside(const CpuSystemSpec& system, const CpuFactors& factors,
                    const CpuIntervals& intervals, const std::vector<const CpuRow*>& blocks) {
  const auto inside = std::count_if(blocks.begin(), blocks.end(), [&](const CpuRow* row) {
    const Interval interval = interval_of(system, factors, intervals, *row);
    return interval.low <= row->measured_us && row->measured_us <= interval.high;
  });
  return static_cast<double>(inside) / static_cast<double>(blocks.size());
}

}  // namespace

CpuIntervals estimate_cpu_intervals(const CpuSystemSpec& system, const CpuFactors& factors,
                                    const std::vector<CpuRow>& rows,
                                    const std::vector<double>& cross) {
  std::map<std::string, std::vector<RatioSample>> samples;
  std::map<std::string, std::set<std::uint64_t>> families;
  std::vector<const CpuRow*> blocks;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is_block(rows[i]) && in_first_half(rows[i])) blocks.push_back(&rows[i]);
    if (rows[i].held_out || !(cross[i] > 0)) continue;
    const std::string name = operator_class(rows[i].op);
    samples[name].push_back({std::to_string(rows[i].family), rows[i].measured_us / cross[i]});
    families[name].insert(rows[i].family);
  }
  CpuIntervals intervals;
  for (const auto& [name, of_class] : samples) {
    if (families[name].size() < kLeast) continue;
    const Interval interval = estimate_interval80(of_class);
    intervals.by_class[name] = {interval.low, interval.high};
  }
  if (blocks.empty()) return intervals;
  for (int step = 0; step <= kSteps; ++step) {
    intervals.correlation = static_cast<double>(step) / kSteps;
    if (share_inside(system, factors, intervals, blocks) >= kWanted) break;
  }
  return intervals;
}

Comparison judge_cpu_row(const CpuSystemSpec& system, const CpuFactors& factors,
                         const CpuIntervals& intervals, const CpuRow& row) {
  Comparison comparison{row.measured_us, predicted_us(system, factors, row), std::nullopt};
  if (!(is_block(row) && in_first_half(row))) {
    comparison.interval80 = interval_of(system, factors, intervals, row);
  }
  return comparison;
}

}  // namespace foretell
