#include "model/app/request/call_figures.hpp"

#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr const char* kThroughput = "throughput";

std::optional<Seconds> seconds_of(const std::optional<double>& value) {
  return value ? std::optional<Seconds>(Seconds(*value)) : std::nullopt;
}

std::optional<double> number_of(const std::optional<Seconds>& value) {
  return value ? std::optional<double>(value->value()) : std::nullopt;
}

template <class Number>
Interval interval_record(const Band<Number>& band) {
  return {band.low.value(), band.high.value()};
}

MemoryUse memory_use(const MemoryRecord& record) {
  return {Bytes(record.weights_bytes),     Bytes(record.kv_cache_bytes),
          Bytes(record.activations_bytes), Bytes(record.inputs_outputs_bytes),
          Bytes(record.runtime_bytes),     Bytes(record.training_bytes)};
}

MemoryRecord record_of(const MemoryUse& use) {
  return {use.weights.value(),        use.kv_cache.value(), use.activations.value(),
          use.inputs_outputs.value(), use.runtime.value(),  use.training.value()};
}

}  // namespace

CallFigures figures_of(const RunSummary& summary) {
  CallFigures figures;
  figures.call = Seconds(summary.call_s);
  figures.latency = Seconds(summary.latency_s);
  figures.throughput = PerSecond(summary.throughput);
  figures.ttft = seconds_of(summary.ttft_s);
  figures.tpot = seconds_of(summary.tpot_s);
  for (const auto& [metric, interval] : summary.interval80) {
    if (metric == kThroughput) {
      figures.throughput80 = Band<PerSecond>{PerSecond(interval.low), PerSecond(interval.high)};
    } else if (ends_with(metric, "_s")) {
      figures.times80[metric] = {Seconds(interval.low), Seconds(interval.high)};
    }
  }
  for (const auto& [option, usd] : summary.costs_usd_per_million) figures.costs[option] = Usd(usd);
  if (summary.cost_usd_per_million) figures.cost = Usd(*summary.cost_usd_per_million);
  if (summary.memory) figures.memory = memory_use(*summary.memory);
  figures.memory_used = Bytes(summary.memory_used_bytes);
  figures.memory_capacity = Bytes(summary.memory_capacity_bytes);
  return figures;
}

void put_figures(const CallFigures& figures, RunSummary& summary) {
  summary.call_s = figures.call.value();
  summary.latency_s = figures.latency.value();
  summary.throughput = figures.throughput.value();
  summary.ttft_s = number_of(figures.ttft);
  summary.tpot_s = number_of(figures.tpot);
  summary.interval80.clear();
  for (const auto& [metric, band] : figures.times80)
    summary.interval80[metric] = interval_record(band);
  if (figures.throughput80)
    summary.interval80[kThroughput] = interval_record(*figures.throughput80);
  summary.costs_usd_per_million.clear();
  for (const auto& [option, usd] : figures.costs)
    summary.costs_usd_per_million[option] = usd.value();
  if (figures.cost) summary.cost_usd_per_million = figures.cost->value();
  if (figures.memory) summary.memory = record_of(*figures.memory);
  summary.memory_used_bytes = figures.memory_used.value();
}

void scale_costs(double factor, CallFigures& figures) {
  if (figures.cost) *figures.cost *= factor;
  for (auto& [option, usd] : figures.costs) usd *= factor;
}

Band<PerSecond> rate_band(double work, const Band<Seconds>& times) {
  return {PerSecond(work / times.high.value()), PerSecond(work / times.low.value())};
}

bool set_memory(const MemoryUse& memory, CallFigures& figures) {
  figures.memory = memory;
  figures.memory_used = memory.total();
  return figures.memory_used <= figures.memory_capacity;
}

}  // namespace foretell
