// Joules and watts of a prediction, for every family of devices.
#pragma once

#include "hw/spec/gpu/energy_factors.hpp"
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

// A number with or without its unit W: "500W", "500". UserError with the option that has it.
double parse_watts(const std::string& option, const std::string& text);

}  // namespace foretell
