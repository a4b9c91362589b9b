// What is known of a call, in numbers with their units: what pipelines, control flow and lengths
// that vary are computed with. Records are read and written here; nothing else computes with them.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "model/base/metrics.hpp"
#include "model/base/units.hpp"
#include "reports/record/summary.hpp"

namespace foretell {

using PerSecond = Quantity<-1, 0, 0, 0, 0>;

// 80 % of measurements lie between.
template <class Number>
struct Band {
  Number low{};
  Number high{};
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
};

CallFigures figures_of(const RunSummary& summary);
// What the figures do not hold stays as it is.
void put_figures(const CallFigures& figures, RunSummary& summary);

// The machine takes `factor` times as long for each of what it is paid for.
void scale_costs(double factor, CallFigures& figures);
template <class Number>
Band<Number> scaled(const Band<Number>& band, double factor) {
  return {band.low * factor, band.high * factor};
}
// Between these times as many are done as go into `work`.
Band<PerSecond> rate_band(double work, const Band<Seconds>& times);

// Of what stays on a device together; false when it is more than there is.
bool set_memory(const MemoryUse& memory, CallFigures& figures);

}  // namespace foretell
