// From the metrics of one call to the record that is shown and stored, for every family of devices.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "hw/spec/shared/catalog.hpp"
#include "model/app/request/record/energy_record.hpp"
#include "model/app/request/resolve/resolved_workload.hpp"
#include "model/base/metrics.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {

// What a record says of the machine.
struct SystemFacts {
  std::string system;
  std::string device;
  std::string factors;
  int assumed_values = 0;
  Prices prices;
  std::vector<Parameter> parameters;     // of all kinds
  std::optional<MachineRecord> machine;  // what bounds operators, where it is known
  // measured / predicted on the machine itself, in place of the table of intervals.
  std::optional<Interval> interval80 = {};
  std::optional<Interval> first_token80 = {};  // of the first token, where it has one of its own
  std::optional<EnergyFacts> energy = {};
  Likeness like = {};                 // of one of the user's: what it is taken for
  bool intervals_of_changed = false;  // the two above are already those of changed hardware
};

// What a catalog says of a system of any family, with the factors of that name.
template <class LoadedSystem>
SystemFacts facts_of(const LoadedSystem& system, const std::string& factors) {
  SystemFacts facts;
  facts.system = system.spec.id;
  facts.device = system.spec.device.id;
  facts.factors = factors;
  facts.assumed_values = system.assumed_values;
  facts.prices = system.spec.price_usd_per_hour;
  facts.parameters = system.parameters;
  facts.like = system.spec.device.like;
  return facts;
}

// What of a request changed the machine: overrides that changed one of these, and the process of
// its chips or memory.
std::vector<std::string> changing(const Request& request, const std::vector<Parameter>& parameters);
std::vector<std::string> changing(const Request& request, const std::set<std::string>& changed);

// Serving formulas, cost, interval and context added.
RunRecord make_record(const ResolvedWorkload& resolved, const SystemFacts& facts,
                      const Metrics& metrics);

// The record of a request without a prediction: what was asked for, without any default, on
// `system`. The names have been checked.
RunRecord unpredicted(const Request& request, const std::string& system);

}  // namespace foretell
