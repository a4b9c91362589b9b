// What is known of a call, in numbers with their units: calls, their energy, pipelines, control
// flow and lengths that vary are computed with it. Records are read and written here.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "model/base/energy_units.hpp"
#include "model/base/metrics.hpp"
#include "model/base/units.hpp"
#include "reports/record/summary.hpp"

namespace foretell {

using PerSecond = Quantity<-1, 0, 0, 0, 0>;
inline Watts operator*(Joules energy, PerSecond rate) {
  return Watts(energy.value() * rate.value());
}
inline Joules operator/(Watts power, PerSecond rate) {
  return Joules(power.value() / rate.value());
}

// 80 % of measurements lie between.
template <class Number>
struct Band {
  Number low{};
  Number high{};
};

// Figures of the boards in use, and at the wall.
struct EnergyFigures {
  Watts watts;
  Watts wall;
  Watts limit;                        // more than which the boards never draw; 0: none is known
  std::optional<Joules> per_request;  // per sample of a batch
  std::optional<Joules> per_token;
  std::optional<Usd> usd_per_million;             // of the throughput, for the energy alone
  std::optional<Usd> usd_per_million_with_price;  // … and the price on demand
  std::optional<Interval> ratio80;                // measured / predicted
  std::optional<Band<Watts>> watts80;
  double wall_per_watt = 0;  // watts at the wall for each more of the boards
  std::optional<Band<Watts>> wall80;
  std::optional<Band<Joules>> per_request80;
  std::optional<Band<Joules>> per_token80;
};

struct CallFigures {
  Seconds call;
  Seconds latency;
  PerSecond throughput;  // of what its record counts
  std::optional<Seconds> ttft;
  std::optional<Seconds> tpot;
  std::map<std::string, Band<Seconds>> times80;  // by metric, "call_s"
  std::optional<Band<PerSecond>> throughput80;
  std::map<std::string, Usd> costs;  // per million, by purchase option
  std::optional<Usd> cost;           // of them, on demand
  std::optional<MemoryUse> memory;
  Bytes memory_used;
  Bytes memory_capacity;
  std::optional<EnergyFigures> energy;
};

// A call of a mixture or a pipeline and how often it happens in one call of the whole.
struct CountedCall {
  double count = 0;
  CallFigures figures;
  const EnergyRecord* energy = nullptr;  // its joules by kind, of one call
};

CallFigures figures_of(const RunSummary& summary);
// That of the summary, which outlives it.
inline CountedCall counted_call(double count, const RunSummary& summary) {
  return {count, figures_of(summary), summary.energy ? &*summary.energy : nullptr};
}
// What the figures do not hold stays as it is; without energy the record has none either.
void put_figures(const CallFigures& figures, RunSummary& summary);
// The bands that the figures have, by the names of records.
void put_bands(const EnergyFigures& energy, std::map<std::string, Interval>& interval80);

// Costs by purchase option of a machine with these prices (USD per hour), by its throughput.
void set_costs(const std::map<std::string, double>& usd_per_hour, CallFigures& figures);
// The machine takes `factor` times as long for each of what it is paid for.
void scale_costs(double factor, CallFigures& figures);
template <class Number>
Band<Number> scaled(const Band<Number>& band, double factor) {
  return {band.low * factor, band.high * factor};
}
template <class Number>
Band<Number> band_of(const Interval& ratio, Number value) {
  return {value * ratio.low, value * ratio.high};
}
// Between these times as many are done as go into `work`.
Band<PerSecond> rate_band(double work, const Band<Seconds>& times);

// What stays on a device together; false when it is more than there is.
bool set_memory(const MemoryUse& memory, CallFigures& figures);

}  // namespace foretell
