#include "model/app/request/call_figures.hpp"

#include "model/base/text.hpp"
#include "model/predict/queueing.hpp"

namespace foretell {
namespace {

constexpr const char* kThroughput = "throughput";

template <class Number>
std::optional<Number> typed(const std::optional<double>& value) {
  return value ? std::optional<Number>(Number(*value)) : std::nullopt;
}

template <class Number>
std::optional<double> plain(const std::optional<Number>& value) {
  return value ? std::optional<double>(value->value()) : std::nullopt;
}

template <class Number>
Interval interval_record(const Band<Number>& band) {
  return {band.low.value(), band.high.value()};
}

template <class Number>
std::optional<Band<Number>> band_in(const RunSummary& summary, const char* field) {
  const auto found = summary.interval80.find(field);
  if (found == summary.interval80.end()) return std::nullopt;
  return Band<Number>{Number(found->second.low), Number(found->second.high)};
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

std::optional<EnergyFigures> energy_of(const RunSummary& summary) {
  if (!summary.watts || !summary.wall_watts) return std::nullopt;
  EnergyFigures energy;
  energy.watts = Watts(*summary.watts);
  energy.wall = Watts(*summary.wall_watts);
  energy.per_request = typed<Joules>(summary.joules_per_request);
  energy.per_token = typed<Joules>(summary.joules_per_token);
  energy.usd_per_million = typed<Usd>(summary.energy_usd_per_million);
  energy.usd_per_million_with_price = typed<Usd>(summary.usd_per_million_with_energy);
  if (summary.energy) {
    energy.ratio80 = summary.energy->interval80;
    energy.limit = Watts(summary.energy->limit_w * summary.energy->devices);
  }
  energy.watts80 = band_in<Watts>(summary, "watts");
  energy.wall80 = band_in<Watts>(summary, "wall_watts");
  if (energy.wall80 && energy.watts80 && energy.watts80->high > energy.watts80->low) {
    energy.wall_per_watt =
        (energy.wall80->high - energy.wall80->low) / (energy.watts80->high - energy.watts80->low);
  }
  energy.per_request80 = band_in<Joules>(summary, "joules_per_request");
  energy.per_token80 = band_in<Joules>(summary, "joules_per_token");
  return energy;
}

void put_energy(const std::optional<EnergyFigures>& figures, RunSummary& summary) {
  if (!figures) summary.energy.reset();
  if (!figures) summary.calibrated_energy.reset();
  const EnergyFigures energy = figures.value_or(EnergyFigures{});
  summary.watts = figures ? std::optional<double>(energy.watts.value()) : std::nullopt;
  summary.wall_watts = figures ? std::optional<double>(energy.wall.value()) : std::nullopt;
  summary.joules_per_request = plain(energy.per_request);
  summary.joules_per_token = plain(energy.per_token);
  summary.energy_usd_per_million = plain(energy.usd_per_million);
  summary.usd_per_million_with_energy = plain(energy.usd_per_million_with_price);
  put_bands(energy, summary.interval80);
}

}  // namespace

void put_bands(const EnergyFigures& energy, std::map<std::string, Interval>& interval80) {
  if (energy.watts80) interval80["watts"] = interval_record(*energy.watts80);
  if (energy.wall80) interval80["wall_watts"] = interval_record(*energy.wall80);
  if (energy.per_request80)
    interval80["joules_per_request"] = interval_record(*energy.per_request80);
  if (energy.per_token80) interval80["joules_per_token"] = interval_record(*energy.per_token80);
}

CallFigures figures_of(const RunSummary& summary) {
  CallFigures figures;
  figures.call = Seconds(summary.call_s);
  figures.latency = Seconds(summary.latency_s);
  figures.throughput = PerSecond(summary.throughput);
  figures.ttft = typed<Seconds>(summary.ttft_s);
  figures.tpot = typed<Seconds>(summary.tpot_s);
  for (const auto& [metric, interval] : summary.interval80) {
    if (ends_with(metric, "_s"))
      figures.times80[metric] = {Seconds(interval.low), Seconds(interval.high)};
  }
  figures.throughput80 = band_in<PerSecond>(summary, kThroughput);
  for (const auto& [option, usd] : summary.costs_usd_per_million) figures.costs[option] = Usd(usd);
  if (summary.cost_usd_per_million) figures.cost = Usd(*summary.cost_usd_per_million);
  if (summary.memory) figures.memory = memory_use(*summary.memory);
  figures.memory_used = Bytes(summary.memory_used_bytes);
  figures.memory_capacity = Bytes(summary.memory_capacity_bytes);
  figures.energy = energy_of(summary);
  return figures;
}

void put_figures(const CallFigures& figures, RunSummary& summary) {
  summary.call_s = figures.call.value();
  summary.latency_s = figures.latency.value();
  summary.throughput = figures.throughput.value();
  summary.ttft_s = plain(figures.ttft);
  summary.tpot_s = plain(figures.tpot);
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
  summary.memory_capacity_bytes = figures.memory_capacity.value();
  put_energy(figures.energy, summary);
}

void set_costs(const std::map<std::string, double>& usd_per_hour, CallFigures& figures) {
  for (const auto& [option, price] : usd_per_hour) {
    const Usd cost = cost_per_million(hourly_price(price), figures.throughput.value());
    figures.costs[option] = cost;
    if (option == kOnDemand) figures.cost = cost;
  }
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
