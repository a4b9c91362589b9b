#include "hw/spec/shared/host_power.hpp"

#include "hw/spec/shared/catalog.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

double fact_between(const Node& root, const char* key, double low, double high) {
  const Node& entry = root.required(key, "hosts");
  entry.only_keys({"value", "source", "kind", "why"}, key);
  entry.required("source", key);
  entry.required("kind", key);
  return number_at(entry.required("value", key), key, low, high);
}

}  // namespace

HostPower load_host_power(const std::string& system, const std::string& kind) {
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
    power.watts = fact_between(host, "watts", 0, kMostWatts);
  if (per_device) power.watts_per_device = fact_between(host, "watts_per_device", 0, kMostWatts);
  power.fan_share = fact_between(host, "fan_share", 0, 1);
  power.supply_efficiency = fact_between(host, "supply_efficiency", kLeastEfficiency, 1);
  return power;
}

}  // namespace foretell
