// Joules and watts of a prediction, for every family of devices.
#pragma once

#include <string>
#include <vector>

#include "calib/fitted/shared/energy_factors.hpp"
#include "hw/spec/shared/host_power.hpp"
#include "model/app/request/resolved_workload.hpp"
#include "model/base/metrics.hpp"
#include "model/predict/call_energy.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {

// What the energy of a system is computed from.
struct EnergyFacts {
  DeviceEnergy energy;
  EnergySetting setting;
  HostPower host;
  double devices = 1;  // of the whole system: those not in use idle
};

// Requires the times, throughput and costs of the record. Adds joules, watts and the cost of
// energy, and a note where nothing was calibrated.
void set_energy(const ResolvedWorkload& resolved, const EnergyFacts& facts, const Metrics& metrics,
                RunRecord& record);

// A call of a mixture or a pipeline and how often it happens in one call of the whole.
struct CountedCall {
  double count = 0;
  const RunSummary* summary = nullptr;
};
// Energy and its cost of a call that is made of others; the times, throughput and costs of `whole`
// are set, its parts of energy stay those of the call that it was copied from. Without the energy
// of one of them there is none.
void mix_energy(const std::vector<CountedCall>& calls, RunSummary& whole);

// A number with or without its unit W: "500W", "500". UserError with the option that has it.
double parse_watts(const std::string& option, const std::string& text);

}  // namespace foretell
