#include "model/app/request/mixed_record.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "model/app/request/energy_record.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

Percentiles percentiles_of(const Distribution& distribution) {
  return {distribution.quantile(0.5), distribution.quantile(0.9), distribution.quantile(0.99)};
}

// Calls that a client waits for, its own included.
double queue_of(const RunSummary& summary) { return summary.latency_s / summary.call_s; }

void fill_distribution(const Distribution& calls, double queue, DistributionRecord& record) {
  const double others = std::max(0.0, queue - 1) * calls.mean();
  record.call_s = percentiles_of(calls);
  record.latency_s = {record.call_s.p50 + others, record.call_s.p90 + others,
                      record.call_s.p99 + others};
  record.outcomes.clear();
  for (const Distribution::Point& point : calls.points())
    record.outcomes.push_back({point.value, std::min(1.0, point.probability)});
}

double expected(const std::vector<WeightedRecord>& records,
                const std::function<double(const RunSummary&)>& value) {
  double sum = 0;
  for (const WeightedRecord& each : records) sum += each.probability * value(each.record->summary);
  return sum;
}

// Bounds of the same device err in the same direction: they add up like the values.
std::map<std::string, Interval> mixed_intervals(const std::vector<WeightedRecord>& records,
                                                double throughput, double call) {
  std::map<std::string, Interval> mixed;
  const RunSummary& first = records.front().record->summary;
  for (const auto& [field, interval] : first.interval80) {
    Interval sum;
    for (const WeightedRecord& each : records) {
      const auto found = each.record->summary.interval80.find(field);
      if (found == each.record->summary.interval80.end()) return mixed;
      sum.low += each.probability * found->second.low;
      sum.high += each.probability * found->second.high;
    }
    mixed[field] = sum;
  }
  const auto calls = mixed.find("call_s");
  if (calls != mixed.end() && calls->second.low > 0) {
    mixed["throughput"] = {throughput * call / calls->second.high,
                           throughput * call / calls->second.low};
  }
  return mixed;
}

void set_times_of_tokens(const std::vector<WeightedRecord>& records, RunSummary& summary,
                         DistributionRecord& distribution) {
  if (!summary.ttft_s) return;
  std::vector<Distribution::Point> first_tokens;
  for (const WeightedRecord& each : records) {
    first_tokens.push_back({*each.record->summary.ttft_s, each.probability});
  }
  const Distribution ttft(std::move(first_tokens));
  summary.ttft_s = ttft.mean();
  distribution.others["ttft_s"] = percentiles_of(ttft);
  if (summary.tpot_s)
    summary.tpot_s = expected(records, [](const RunSummary& s) { return s.tpot_s.value_or(0); });
}

void scale_costs(double factor, RunSummary& summary) {
  if (summary.cost_usd_per_million) *summary.cost_usd_per_million *= factor;
  for (auto& [option, cost] : summary.costs_usd_per_million) cost *= factor;
}

}  // namespace

Distribution call_distribution(const RunRecord& record) {
  const RunSummary& summary = record.summary;
  if (!summary.distribution) return Distribution::certain(summary.call_s);
  std::vector<Distribution::Point> points;
  for (const OutcomeRecord& outcome : summary.distribution->outcomes)
    points.push_back({outcome.call_s, outcome.probability});
  return Distribution(std::move(points));
}

void mix_summaries(const std::vector<WeightedRecord>& records, RunRecord& mixed) {
  FORETELL_CHECK(!records.empty(), "calls to mix");
  std::vector<WeightedDistribution> parts;
  const RunSummary* largest = &records.front().record->summary;
  for (const WeightedRecord& each : records) {
    parts.push_back({each.probability, call_distribution(*each.record)});
    const RunSummary& summary = each.record->summary;
    if (summary.memory_used_bytes > largest->memory_used_bytes) largest = &summary;
  }
  const Distribution calls = mixture(parts);
  RunSummary& summary = mixed.summary;
  const double queue = queue_of(summary);
  const double before = summary.throughput;
  summary.call_s = expected(records, [](const RunSummary& s) { return s.call_s; });
  summary.latency_s = queue * summary.call_s;
  const double work =
      expected(records, [](const RunSummary& s) { return s.throughput * s.call_s; });
  summary.throughput = work / summary.call_s;
  scale_costs(before / summary.throughput, summary);
  summary.interval80 = mixed_intervals(records, summary.throughput, summary.call_s);
  std::vector<CountedCall> calls_of;
  for (const WeightedRecord& each : records)
    calls_of.push_back({each.probability, &each.record->summary});
  mix_energy(calls_of, summary);
  summary.memory_used_bytes = largest->memory_used_bytes;
  summary.memory = largest->memory;
  DistributionRecord distribution;
  set_times_of_tokens(records, summary, distribution);
  fill_distribution(calls, queue, distribution);
  summary.distribution = std::move(distribution);
}

void set_calls(const Distribution& calls, RunRecord& record) {
  RunSummary& summary = record.summary;
  const double queue = queue_of(summary);
  const double factor = calls.mean() / summary.call_s;
  summary.call_s = calls.mean();
  summary.latency_s *= factor;
  summary.throughput /= factor;
  scale_costs(factor, summary);
  for (auto& [field, interval] : summary.interval80) {
    const double scale = field == "throughput" ? 1 / factor : factor;
    interval = {interval.low * scale, interval.high * scale};
  }
  DistributionRecord distribution;
  fill_distribution(calls, queue, distribution);
  summary.distribution = std::move(distribution);
}

}  // namespace foretell
