#include "model/app/request/record/mixed_record.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "model/app/request/call_figures.hpp"
#include "model/app/request/record/energy_record.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

Percentiles percentiles_of(const Distribution& distribution) {
  return {distribution.quantile(0.5), distribution.quantile(0.9), distribution.quantile(0.99)};
}

// Calls that a client waits for, its own included.
double queue_of(const CallFigures& figures) { return figures.latency / figures.call; }

void fill_distribution(const Distribution& calls, double queue, DistributionRecord& record) {
  const double others = std::max(0.0, queue - 1) * calls.mean();
  record.call_s = percentiles_of(calls);
  record.latency_s = {record.call_s.p50 + others, record.call_s.p90 + others,
                      record.call_s.p99 + others};
  record.outcomes.clear();
  for (const Distribution::Point& point : calls.points())
    record.outcomes.push_back({point.value, std::min(1.0, point.probability)});
}

// Expected value of what `value` gives of a call.
template <class Value>
auto expected(const std::vector<CountedCall>& calls, const Value& value) {
  decltype(value(calls.front().figures)) sum{};
  for (const CountedCall& each : calls) sum += each.count * value(each.figures);
  return sum;
}

// Bounds of the same device err in the same direction: they add up like the values.
template <class Number>
void add_weighted(double probability, const Band<Number>& band, Band<Number>& sum) {
  sum.low += probability * band.low;
  sum.high += probability * band.high;
}

// Those that every call has.
std::map<std::string, Band<Seconds>> mixed_times80(const std::vector<CountedCall>& calls) {
  std::map<std::string, Band<Seconds>> mixed;
  for (const auto& entry : calls.front().figures.times80) {
    Band<Seconds> sum;
    for (const CountedCall& each : calls) {
      const auto found = each.figures.times80.find(entry.first);
      if (found == each.figures.times80.end()) return mixed;
      add_weighted(each.count, found->second, sum);
    }
    mixed[entry.first] = sum;
  }
  return mixed;
}

void mix_intervals(const std::vector<CountedCall>& calls, CallFigures& mixed) {
  mixed.times80 = mixed_times80(calls);
  const auto times = mixed.times80.find("call_s");
  mixed.throughput80.reset();
  if (times != mixed.times80.end() && times->second.low > Seconds(0))
    mixed.throughput80 = rate_band(mixed.throughput * mixed.call, times->second);
}

void mix_times_of_tokens(const std::vector<CountedCall>& calls, CallFigures& mixed,
                         DistributionRecord& distribution) {
  if (!mixed.ttft) return;
  std::vector<Distribution::Point> first_tokens;
  for (const CountedCall& each : calls)
    first_tokens.push_back({each.figures.ttft->value(), each.count});
  const Distribution ttft(std::move(first_tokens));
  mixed.ttft = Seconds(ttft.mean());
  distribution.others["ttft_s"] = percentiles_of(ttft);
  if (mixed.tpot) {
    mixed.tpot = expected(
        calls, [](const CallFigures& figures) { return figures.tpot.value_or(Seconds(0)); });
  }
}

// The time of a call: that of the record, or its outcomes where it has some.
Distribution call_distribution(const RunRecord& record) {
  const RunSummary& summary = record.summary;
  if (!summary.distribution) return Distribution::certain(summary.call_s);
  std::vector<Distribution::Point> points;
  for (const OutcomeRecord& outcome : summary.distribution->outcomes)
    points.push_back({outcome.call_s, outcome.probability});
  return Distribution(std::move(points));
}

}  // namespace

void mix_summaries(const std::vector<WeightedRecord>& records, RunRecord& mixed) {
  FORETELL_CHECK(!records.empty(), "calls to mix");
  std::vector<CountedCall> calls;
  std::vector<WeightedDistribution> parts;
  for (const WeightedRecord& each : records) {
    parts.push_back({each.probability, call_distribution(*each.record)});
    calls.push_back(counted_call(each.probability, each.record->summary));
  }
  const CallFigures* largest = &calls.front().figures;
  for (const CountedCall& each : calls) {
    if (each.figures.memory_used > largest->memory_used) largest = &each.figures;
  }
  CallFigures figures = figures_of(mixed.summary);
  const double queue = queue_of(figures);
  const PerSecond before = figures.throughput;
  figures.call = expected(calls, [](const CallFigures& one) { return one.call; });
  figures.latency = queue * figures.call;
  const double work =
      expected(calls, [](const CallFigures& one) { return one.throughput * one.call; });
  figures.throughput = PerSecond(work / figures.call.value());
  scale_costs(before / figures.throughput, figures);
  mix_intervals(calls, figures);
  figures.memory_used = largest->memory_used;
  figures.memory = largest->memory;
  DistributionRecord distribution;
  mix_times_of_tokens(calls, figures, distribution);
  fill_distribution(mixture(parts), queue, distribution);
  mix_energy(calls, figures, mixed.summary);
  put_figures(figures, mixed.summary);
  mixed.summary.distribution = std::move(distribution);
}

void set_calls(const Distribution& calls, const std::vector<CountedCall>& runs, RunRecord& record) {
  CallFigures figures = figures_of(record.summary);
  const double queue = queue_of(figures);
  const double factor = calls.mean() / figures.call.value();
  figures.call = Seconds(calls.mean());
  figures.latency *= factor;
  figures.throughput /= factor;
  scale_costs(factor, figures);
  for (auto& [metric, band] : figures.times80) band = scaled(band, factor);
  if (figures.throughput80) figures.throughput80 = scaled(*figures.throughput80, 1 / factor);
  DistributionRecord distribution;
  fill_distribution(calls, queue, distribution);
  mix_energy(runs, figures, record.summary);
  put_figures(figures, record.summary);
  record.summary.distribution = std::move(distribution);
}

}  // namespace foretell
