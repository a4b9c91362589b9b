// Joules and watts of a prediction, for every family of devices.
#pragma once

#include <vector>

#include "calib/fitted/shared/energy_factors.hpp"
#include "hw/spec/shared/host_power.hpp"
#include "model/app/request/call_figures.hpp"
#include "model/app/request/resolve/resolved_workload.hpp"
#include "model/base/metrics.hpp"
#include "model/predict/power/call_energy.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {

// What the energy of a system is computed from.
struct EnergyFacts {
  DeviceEnergy energy;
  EnergySetting setting;
  HostPower host;
  double devices = 1;  // of the whole system: those not in use idle
};

// Requires the times, throughput and costs of the figures. Adds joules, watts and the cost of
// energy, their parts to the record, and a note where nothing was calibrated.
void set_energy(const ResolvedWorkload& resolved, const EnergyFacts& facts, const Metrics& metrics,
                CallFigures& figures, RunRecord& record);

// Energy and its cost of a call that is made of others; the times, throughput and costs of `whole`
// are set, its ratio stays that of the call that it was copied from. Without the energy of one of
// them there is none. Its joules by kind and operator are theirs.
void mix_energy(const std::vector<CountedCall>& calls, CallFigures& whole, RunSummary& summary);

// Whose energies a device has that was not measured itself.
std::vector<std::string> calibration_notes(const DeviceEnergy& energy);

// The 80 % bands of what the figures hold, by their ratio; none without one.
void set_bands(EnergyFigures& energy);

// What `wall` costs for a million of what `throughput` counts, at the price and the overhead of the
// building that the request states.
Usd energy_cost_per_million(const Request& request, Watts wall, PerSecond throughput);

}  // namespace foretell
