#include "calib/fitted/shared/energy_factors.hpp"

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "calib/fitted/shared/factors_folder.hpp"
#include "calib/fitted/shared/fitted_values.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/provenance.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxFactor = 1e6;

// Facts of a device without measurements are those of its family, watts as shares of the limit of
// its board.
PowerFacts read_power_facts(const Node& root, Watts limit) {
  root.only_keys({"like", "interval80", "active_idle_watts", "active_idle_share", "limit_share",
                  "link_pj_per_byte", "voltage_knee", "voltage_floor", "voltage_margin",
                  "lowest_clock", "leakage_share", "leakage_growth", "busy_share", "energies"},
                 "");
  PowerFacts facts;
  constexpr double kMaxWatts = 1e5;
  constexpr double kMaxPj = 1e6;
  facts.active_idle = root.find("active_idle_watts") != nullptr
                          ? Watts(sourced_number(root, "active_idle_watts", 0, kMaxWatts))
                          : limit * sourced_number(root, "active_idle_share", 0, 1);
  facts.limit_share = sourced_number(root, "limit_share", 0, 1);
  facts.link_pj_per_byte = sourced_number(root, "link_pj_per_byte", 0, kMaxPj);
  facts.voltage_knee = sourced_number(root, "voltage_knee", 0, 1);
  facts.voltage_floor = sourced_number(root, "voltage_floor", 0, 1);
  facts.lowest_clock = sourced_number(root, "lowest_clock", 0, 1);
  constexpr double kMaxGrowth = 10;
  constexpr double kMaxMargin = 0.5;
  facts.leakage_share = sourced_number(root, "leakage_share", 0, 1);
  facts.leakage_growth = sourced_number(root, "leakage_growth", 0, kMaxGrowth);
  facts.voltage_margin = sourced_number(root, "voltage_margin", 0, kMaxMargin);
  return facts;
}

// Energies that are stated instead of fitted.
void read_energies(const Node& root, EnergyFactors& factors) {
  const Node* energies = root.find("energies");
  if (energies == nullptr) return;
  std::vector<std::string> known;
  for (const auto& [name, member] : energy_factor_names()) {
    known.push_back(name);
    if (energies->find(name) != nullptr)
      factors.*member = sourced_number(*energies, name, 0, kMaxFactor);
  }
  energies->only_keys(known, "energies");
}

void read_energy_factors(const Node& root, DeviceEnergy& energy) {
  energy.fitted_on = root.required("device", "").as_text("device");
  const Node& factors = root.required("factors", "");
  FieldList list;
  std::vector<std::string> known;
  for (const auto& [name, member] : energy_factor_names()) {
    known.push_back(name);
    if (factors.find(name) != nullptr)
      list.value(name, energy.factors.*member, {0, kMaxFactor}, "See EnergyFactors.");
  }
  factors.only_keys(known, "factors");
  Problems problems;
  load_fitted_values(
      factors, list, {"unit", "identified"},
      [&](const Field& field, const Node& entry, FittedValue&) {
        const Node* identified = entry.find("identified");
        if (energy.is_calibrated && identified != nullptr &&
            identified->as_text(field.path) == "yes")
          energy.calibrated.insert(field.path);
      },
      problems);
  problems.throw_if_any();
}

void read_intervals(const Node& root, DeviceEnergy& energy) {
  std::tie(energy.interval_low, energy.interval_high) =
      read_interval80(root.required("interval80", ""));
  const Node* kinds = root.find("intervals");
  if (kinds == nullptr) return;
  for (const MapEntry& kind : kinds->entries)
    energy.intervals[kind.key] = read_interval80(kind.value);
}

}  // namespace

double PowerFacts::curve_voltage(double clock) const {
  if (clock <= voltage_knee) return voltage_floor;
  return voltage_floor + (1 - voltage_floor) * (clock - voltage_knee) / (1 - voltage_knee);
}

std::vector<std::pair<std::string, double EnergyFactors::*>> energy_factor_names() {
  return {{"matrix_32", &EnergyFactors::matrix_32}, {"matrix_16", &EnergyFactors::matrix_16},
          {"matrix_8", &EnergyFactors::matrix_8},   {"matrix_4", &EnergyFactors::matrix_4},
          {"vector", &EnergyFactors::vector},       {"exponential", &EnergyFactors::exponential},
          {"dram", &EnergyFactors::dram},           {"l2", &EnergyFactors::l2},
          {"sram", &EnergyFactors::sram},           {"busy", &EnergyFactors::busy}};
}

DeviceEnergy load_device_energy(const std::vector<std::string>& names, Watts limit,
                                const std::string& factors) {
  fs::path facts_file;
  for (const std::string& name : names) {
    facts_file = hw_folder() / "energy" / (name + ".yaml");
    if (fs::exists(facts_file)) break;
  }
  const Node facts = load_document(facts_file);
  DeviceEnergy energy;
  energy.facts = read_power_facts(facts, limit);
  read_energies(facts, energy.factors);
  const Node* idle = facts.find("active_idle_watts");
  if (idle != nullptr && idle->required("kind", "active_idle_watts").as_text("kind") == "measured")
    energy.calibrated.insert("active_idle");
  const auto file_of_device = [&](const std::string& device) {
    return factors_file(factors, fs::path("energy") / (device + ".yaml"));
  };
  fs::path fitted_file = file_of_device(names.front());
  energy.is_calibrated = fs::exists(fitted_file);
  if (!energy.is_calibrated) {
    read_intervals(facts, energy);
    const Node* like = facts.find("like");
    if (like == nullptr) return energy;
    fitted_file = file_of_device(like->as_text("like"));
    if (!fs::exists(fitted_file)) return energy;  // before the first fit: facts alone
  }
  const Node fitted = load_document(fitted_file);
  read_energy_factors(fitted, energy);
  if (energy.is_calibrated) read_intervals(fitted, energy);
  // A smaller board has fewer SMs to keep busy than the one that the factors are of.
  if (!energy.is_calibrated && facts.find("busy_share") != nullptr)
    energy.factors.busy = sourced_number(facts, "busy_share", 0, 1) * limit.value();
  return energy;
}

DeviceEnergy changed_energy(DeviceEnergy energy, const EnergyChange& change) {
  if (!change.changes()) return energy;
  for (double EnergyFactors::*factor :
       {&EnergyFactors::matrix_32, &EnergyFactors::matrix_16, &EnergyFactors::matrix_8,
        &EnergyFactors::matrix_4, &EnergyFactors::vector, &EnergyFactors::exponential,
        &EnergyFactors::l2, &EnergyFactors::sram, &EnergyFactors::busy}) {
    energy.factors.*factor *= change.switched;
  }
  energy.factors.dram = std::max(0.0, energy.factors.dram + change.memory_pj);
  PowerFacts& facts = energy.facts;
  const Watts leaks = facts.active_idle * facts.leakage_share * change.leakage;
  facts.active_idle = facts.active_idle * (1 - facts.leakage_share) + leaks;
  if (facts.active_idle > Watts(0)) facts.leakage_share = leaks / facts.active_idle;
  energy.calibrated.clear();
  return energy;
}

namespace {

// What a device draws otherwise than the one that its energies were fitted on. Nothing where the
// process of one of them is not known.
EnergyChange process_difference(const GpuDeviceSpec& device, const DeviceEnergy& energy) {
  EnergyChange change;
  const std::optional<ProcessFacts> own = process_facts(device.id);
  const std::optional<ProcessFacts> of_fitted = process_facts(energy.fitted_on);
  const GpuDeviceSpec* fitted = find_published_device(energy.fitted_on);
  if (!own || !of_fitted || fitted == nullptr) return change;
  // Processes compare at equal speed; a chip of another clock takes another voltage for it.
  const double voltage = energy.facts.curve_voltage(device.clock.boost / fitted->clock.boost);
  change.switched = own->energy / of_fitted->energy * voltage * voltage;
  change.memory_pj = own->byte_pj - of_fitted->byte_pj;
  return change;
}

}  // namespace

DeviceEnergy load_gpu_energy(const GpuDeviceSpec& device, const std::string& factors) {
  DeviceEnergy energy =
      load_device_energy({device.id, device.architecture, "default"}, device.power, factors);
  if (energy.is_calibrated || energy.fitted_on.empty()) return energy;
  // The watts of busy SMs are a share of the board's, whatever its process.
  const double busy = energy.factors.busy;
  const EnergyChange change = process_difference(device, energy);
  energy = changed_energy(std::move(energy), change);
  energy.factors.busy = busy;
  return energy;
}

}  // namespace foretell
