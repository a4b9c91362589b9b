// From the metrics of one call to the record that is shown and stored.
#include <foretell/version.hpp>

#include "model/base/errors.hpp"
#include "model/cli/intervals.hpp"
#include "model/cli/resolved_request.hpp"

namespace foretell {
namespace {

constexpr const char* kPriceOption = "on_demand";

Scenario scenario_of(const Request& request) {
  Scenario scenario;
  scenario.batch = request.batch;
  scenario.seq_len = request.seq_len;
  scenario.input_len = request.input_len;
  scenario.output_len = request.output_len;
  scenario.context = request.context;
  scenario.image_size = request.image_size;
  scenario.tp = request.tp;
  scenario.pp = request.pp;
  scenario.dp = request.dp;
  scenario.cores = request.cores;
  scenario.in_flight = request.in_flight;
  scenario.sdk = request.sdk;
  return scenario;
}

RunContext context_of(const ResolvedRequest& resolved) {
  const Request& request = resolved.request;
  RunContext context;
  context.version = kVersion;
  context.commit = kCommit;
  context.system = resolved.system.spec.id;
  context.workload = resolved.model.name;
  context.dtype = resolved.precision.name;
  context.scenario = scenario_of(request);
  context.set = request.set;
  context.factors = resolved.system.factors_id;
  context.assumed_values = resolved.system.assumed_values;
  context.seed = request.seed;
  context.notes = resolved.notes;
  return context;
}

Interval scaled(const Interval& ratio, double value) {
  return {ratio.low * value, ratio.high * value};
}

RunSummary summary_of(const ResolvedRequest& resolved, const Metrics& metrics,
                      const Interval& ratio) {
  RunSummary summary;
  summary.call_s = metrics.call.value();
  summary.latency_s = client_latency(metrics.call, resolved.serving).value();
  summary.throughput = system_throughput(metrics.call, resolved.serving);
  summary.throughput_unit = "inferences/s";
  if (metrics.generation) {
    summary.throughput *= static_cast<double>(resolved.request.output_len);
    summary.throughput_unit = "tokens/s";
    summary.ttft_s = metrics.generation->ttft.value();
    summary.tpot_s = metrics.generation->tpot.value();
    summary.interval80["ttft_s"] = scaled(ratio, *summary.ttft_s);
    summary.interval80["tpot_s"] = scaled(ratio, *summary.tpot_s);
  }
  summary.interval80["call_s"] = scaled(ratio, summary.call_s);
  summary.interval80["latency_s"] = scaled(ratio, summary.latency_s);
  const Prices& prices = resolved.system.spec.price_usd_per_hour;
  if (const auto price = prices.find(kPriceOption); price != prices.end()) {
    summary.cost_usd_per_million =
        cost_per_million(hourly_price(price->second), summary.throughput).value();
  }
  summary.memory_used_bytes = metrics.memory_used.value();
  summary.memory_capacity_bytes = metrics.memory_capacity.value();
  summary.bottleneck = metrics.bottleneck;
  return summary;
}

}  // namespace

RunRecord make_record(const ResolvedRequest& resolved, const Metrics& metrics) {
  RunRecord record;
  record.context = context_of(resolved);
  const IntervalChoice interval = default_intervals().choose(
      resolved.system.spec.device.id, interval_family(resolved.model.family));
  if (!interval.note.empty()) record.context.notes.push_back(interval.note);
  record.summary = summary_of(resolved, metrics, interval.ratio);
  for (const OperatorMetrics& op : metrics.operators) {
    record.operators.push_back({op.name, op.op, op.engine, op.start.value(), op.duration.value(),
                                op.flops.value(), op.bytes.value(), op.critical});
  }
  for (const ResourceMetrics& resource : metrics.resources) {
    record.resources.push_back(
        {resource.path, resource.busy, resource.stalled, resource.bytes.value()});
  }
  check_record(record);
  return record;
}

}  // namespace foretell
