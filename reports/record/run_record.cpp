#include "reports/record/run_record.hpp"

#include <cmath>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

// The name of the field in parts, which are put together where it is wrong alone.
template <class... Parts>
std::string field_of(const Parts&... parts) {
  std::string field = "record field ";
  (field.append(parts), ...);
  return field;
}

template <class... Parts>
void check_amount(double value, const Parts&... field) {
  FORETELL_CHECK(std::isfinite(value), field_of(field..., " is not a finite number"));
  FORETELL_CHECK(value >= 0, field_of(field..., " is negative"));
}

template <class... Parts>
void check_share(double value, const Parts&... field) {
  constexpr double kRounding = 1e-9;  // shares are sums of rounded times
  check_amount(value, field...);
  FORETELL_CHECK(value <= 1 + kRounding, field_of(field..., " is above 1"));
}

void check_memory(const MemoryRecord& memory) {
  check_amount(memory.weights_bytes, "summary.memory.weights_bytes");
  check_amount(memory.kv_cache_bytes, "summary.memory.kv_cache_bytes");
  check_amount(memory.activations_bytes, "summary.memory.activations_bytes");
  check_amount(memory.inputs_outputs_bytes, "summary.memory.inputs_outputs_bytes");
  check_amount(memory.runtime_bytes, "summary.memory.runtime_bytes");
  check_amount(memory.training_bytes, "summary.memory.training_bytes");
}

void check_percentiles(const Percentiles& values, const std::string& field) {
  check_amount(values.p50, field + ".p50");
  check_amount(values.p90, field + ".p90");
  check_amount(values.p99, field + ".p99");
}

void check_distribution(const DistributionRecord& distribution) {
  const std::string field = "summary.distribution.";
  check_percentiles(distribution.latency_s, field + "latency_s");
  check_percentiles(distribution.call_s, field + "call_s");
  for (const auto& [name, values] : distribution.others) check_percentiles(values, field + name);
  for (const PaddingRecord& padding : distribution.padding) {
    check_amount(padding.dynamic_call_s, field + "padding.dynamic_call_s");
    check_amount(padding.buckets_call_s, field + "padding.buckets_call_s");
    check_amount(padding.overhead, field + "padding.overhead");
    check_share(padding.padding_share, field + "padding.padding_share");
  }
  for (const PartRecord& part : distribution.parts) {
    check_amount(part.call_s, field + "parts[" + part.name + "].call_s");
    check_amount(part.runs, field + "parts[" + part.name + "].runs");
  }
  for (const OutcomeRecord& outcome : distribution.outcomes) {
    check_amount(outcome.call_s, field + "outcomes.call_s");
    check_share(outcome.probability, field + "outcomes.probability");
  }
}

void check_served(const ServedTimes& served) {
  for (const double share : served.shares) check_share(share, "summary.served.shares");
  for (const auto& [name, times] : served.times_s) {
    for (const double time : times) check_amount(time, "summary.served.", name);
    FORETELL_CHECK(times.size() == served.shares.size(),
                   "record field summary.served." + name + " has another length than shares");
  }
}

void check_summary(const RunSummary& summary) {
  for (const SummaryMetric& metric : summary_metrics())
    check_amount(value_of(metric, summary).value_or(0), "summary.", metric.field);
  for (const auto& [option, cost] : summary.costs_usd_per_million) {
    check_amount(cost, "summary.costs_usd_per_million.", option);
  }
  if (summary.memory) check_memory(*summary.memory);
  if (summary.distribution) check_distribution(*summary.distribution);
  if (summary.served) check_served(*summary.served);
  for (const auto& [name, interval] : summary.interval80) {
    check_amount(interval.low, "summary.interval80.", name);
    check_amount(interval.high, "summary.interval80.", name);
    FORETELL_CHECK(interval.low <= interval.high,
                   field_of("summary.interval80.", name, " is upside down"));
  }
}

void check_machine(const MachineRecord& machine) {
  for (const PeakRecord& peak : machine.compute) {
    check_amount(peak.per_s, "machine.compute[", peak.name, "].per_s");
  }
  for (const PeakRecord& peak : machine.bandwidths) {
    check_amount(peak.per_s, "machine.bandwidths[", peak.name, "].per_s");
  }
}

}  // namespace

std::set<std::string> overridden_paths(const std::vector<ValueRecord>& values) {
  std::set<std::string> paths;
  for (const ValueRecord& value : values)
    if (value.kind == "override") paths.insert(value.path);
  return paths;
}

void check_record(const RunRecord& record) {
  check_amount(record.context.scenario.in_flight, "context.scenario.in_flight");
  if (record.machine) check_machine(*record.machine);
  check_summary(record.summary);
  for (const GenerationRecord& step : record.generation) {
    check_amount(step.step_s, "generation[", std::to_string(step.kv_len), "].step_s");
  }
  for (const OperatorRecord& op : record.operators) {
    check_amount(op.start_s, "operators[", op.name, "].start_s");
    check_amount(op.duration_s, "operators[", op.name, "].duration_s");
    check_amount(op.flops, "operators[", op.name, "].flops");
    check_amount(op.bytes, "operators[", op.name, "].bytes");
  }
  for (const ResourceRecord& resource : record.resources) {
    check_share(resource.busy, "resources[", resource.path, "].busy");
    check_share(resource.stalled, "resources[", resource.path, "].stalled");
    check_amount(resource.bytes, "resources[", resource.path, "].bytes");
  }
}

}  // namespace foretell
