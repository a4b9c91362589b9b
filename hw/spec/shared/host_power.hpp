// What a system draws beside its devices (hw/energy/hosts.yaml).
#pragma once

#include <string>

#include "model/base/energy_units.hpp"

namespace foretell {

struct HostPower {
  Watts own;  // of the system, however many devices it has
  Watts per_device;
  double fan_share = 0;          // of what the devices draw
  double supply_efficiency = 1;  // watts inside / watts at the wall

  // At the wall, of a system of `devices` whose boards draw `boards` together.
  Watts at_wall(Watts boards, double devices) const {
    return (own + per_device * devices) / supply_efficiency + boards * wall_per_watt();
  }
  double wall_per_watt() const { return (1 + fan_share) / supply_efficiency; }
};

// The entry of the system itself, else of `kind` ("nvlink", "pcie", "none", "neuron", "cpu"); of
// `nodes` such systems together. UserError with file:line for what is wrong in the file.
HostPower load_host_power(const std::string& system, const std::string& kind, int nodes = 1);

}  // namespace foretell
