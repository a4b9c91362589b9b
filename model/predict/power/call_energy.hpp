// Joules of a call, from what its operators were counted to do.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/base/energy_units.hpp"
#include "model/base/metrics.hpp"
#include "model/timing/shared/energy_timing.hpp"

namespace foretell {

// Sum over all ranks and the devices' idle time between calls.
struct EnergySetting {
  double ranks = 1;    // cores or devices that each run every operator of a call
  double devices = 1;  // in use by all copies
  Watts limit;         // of one device; 0: none is known
};

// The energy of one call of one copy, `calls_per_s` of which end on the system every second: the
// work of its operators times the ranks, and its share of the active idle power of all devices in
// use, which leaks less while operators run at a lower voltage. Where the operators of a window
// would draw more than the limit lets a device, their energy is what the limit leaves in their
// time.
struct CallEnergy {
  std::vector<EnergyPart> parts;
  // Of its work alone, by kind of operator: with the active idle power they are all parts.
  std::map<std::string, Joules> by_operator;
};
CallEnergy energy_of_call(const Metrics& metrics, const DeviceEnergy& energy,
                          const EnergySetting& setting, double calls_per_s);

// What a rank does in a call, and how long its operators take one after another.
EnergyWork work_of(const Metrics& metrics);
Seconds operator_time(const Metrics& metrics);

}  // namespace foretell
