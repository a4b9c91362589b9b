// What a system draws beside its devices (hw/energy/hosts.yaml).
#pragma once

#include <string>

namespace foretell {

struct HostPower {
  double watts = 0;  // of the system, however many devices it has
  double watts_per_device = 0;
  double fan_share = 0;          // of what the devices draw
  double supply_efficiency = 1;  // watts inside / watts at the wall

  // At the wall, of a system of `devices` whose boards draw `board_watts` together.
  double wall_watts(double board_watts, double devices) const {
    const double host = watts + watts_per_device * devices;
    return (host + (1 + fan_share) * board_watts) / supply_efficiency;
  }
};

// The entry of the system itself, else of `kind` ("nvlink", "pcie", "none", "neuron", "cpu").
// UserError with file:line for what is wrong in the file.
HostPower load_host_power(const std::string& system, const std::string& kind);

}  // namespace foretell
