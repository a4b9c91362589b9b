#include "hw/spec/shared/host_power.hpp"

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/provenance.hpp"
#include "model/config/document.hpp"

namespace foretell {
HostPower load_host_power(const std::string& system, const std::string& kind, int nodes) {
  const Node root = load_document(hw_folder() / "energy" / "hosts.yaml");
  const Node& hosts = root.required("hosts", "");
  const Node* entry = hosts.find(system);
  const Node& host = entry != nullptr ? *entry : hosts.required(kind, "hosts");
  host.only_keys({"watts", "watts_per_device", "fan_share", "supply_efficiency"}, "hosts");
  constexpr double kMostWatts = 1e5;
  constexpr double kLeastEfficiency = 0.3;
  HostPower power;
  // One of the two is enough.
  const bool per_device = host.find("watts_per_device") != nullptr;
  if (!per_device || host.find("watts") != nullptr)
    power.own = Watts(sourced_number(host, "watts", 0, kMostWatts) * nodes);
  if (per_device) power.per_device = Watts(sourced_number(host, "watts_per_device", 0, kMostWatts));
  power.fan_share = sourced_number(host, "fan_share", 0, 1);
  power.supply_efficiency = sourced_number(host, "supply_efficiency", kLeastEfficiency, 1);
  return power;
}

}  // namespace foretell
