#include "calib/fitted/shared/energy_factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>
#include <type_traits>
#include <utility>

#include "calib/fitted/shared/factor_file.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/provenance.hpp"
#include "model/base/errors.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr double kMaxFactor = 1e6;

template <auto Member>
EnergyFactor energy_factor(const char* name, const char* unit) {
  using Energy = std::decay_t<decltype(std::declval<EnergyFactors>().*Member)>;
  return {name, unit, [](const EnergyFactors& factors) { return (factors.*Member).value(); },
          [](EnergyFactors& factors, double number) { factors.*Member = Energy(number); }};
}

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
  facts.link = EnergyPerByte(sourced_number(root, "link_pj_per_byte", 0, kMaxPj));
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
  for (const EnergyFactor& factor : energy_factors()) {
    known.emplace_back(factor.name);
    if (energies->find(factor.name) != nullptr)
      factor.set(factors, sourced_number(*energies, factor.name, 0, kMaxFactor));
  }
  energies->only_keys(known, "energies");
}

void read_energy_factors(const fs::path& path, DeviceEnergy& energy) {
  std::map<std::string, double> numbers;
  FieldList list;
  for (const EnergyFactor& factor : energy_factors()) {
    numbers[factor.name] = factor.number(energy.factors);
    list.value(factor.name, numbers[factor.name], {0, kMaxFactor}, "See EnergyFactors.");
  }
  const FactorFile file =
      parse_factor_table(read_text_file(path), path.string(), {{"interval80"}, &list});
  const FactorTable& table = file.tables.front();
  for (const EnergyFactor& factor : energy_factors()) {
    const auto remark = table.remarks.find(factor.name);
    if (remark != table.remarks.end() && remark->second.unit != factor.unit) {
      throw UserError(fmt::format("{}: {}: unit '{}'; expected {}", path.string(), factor.name,
                                  remark->second.unit, factor.unit));
    }
    factor.set(energy.factors, numbers[factor.name]);
  }
  energy.fitted_on = file.device;
  if (!energy.is_calibrated) return;
  for (const auto& factor : table.factors) energy.calibrated.insert(factor.first);
  for (const FactorInterval& interval : table.evidence.interval80) {
    if (!interval.is_identified) energy.calibrated.erase(interval.factor);
  }
  energy.interval_low = table.interval_low;
  energy.interval_high = table.interval_high;
  energy.intervals = table.intervals;
}

// At least as wide as on a device that was not measured.
void forget_calibration(const Node& facts, DeviceEnergy& energy) {
  energy.calibrated.clear();
  energy.intervals.clear();
  energy.is_calibrated = false;
  const auto [low, high] = read_interval80(facts.required("interval80", ""));
  energy.interval_low = std::min(energy.interval_low * energy.interval_low, low);
  energy.interval_high = std::max(energy.interval_high * energy.interval_high, high);
}

}  // namespace

double PowerFacts::curve_voltage(double clock) const {
  if (clock <= voltage_knee) return voltage_floor;
  return voltage_floor + (1 - voltage_floor) * (clock - voltage_knee) / (1 - voltage_knee);
}

const std::vector<EnergyFactor>& energy_factors() {
  static const std::vector<EnergyFactor> kFactors = {
      energy_factor<&EnergyFactors::matrix_32>("matrix_32", "pJ/FLOP"),
      energy_factor<&EnergyFactors::matrix_16>("matrix_16", "pJ/FLOP"),
      energy_factor<&EnergyFactors::matrix_8>("matrix_8", "pJ/FLOP"),
      energy_factor<&EnergyFactors::matrix_4>("matrix_4", "pJ/FLOP"),
      energy_factor<&EnergyFactors::vector>("vector", "pJ/FLOP"),
      energy_factor<&EnergyFactors::exponential>("exponential", "pJ"),
      energy_factor<&EnergyFactors::dram>("dram", "pJ/B"),
      energy_factor<&EnergyFactors::l2>("l2", "pJ/B"),
      energy_factor<&EnergyFactors::sram>("sram", "pJ/B"),
      energy_factor<&EnergyFactors::busy>("busy", "W")};
  return kFactors;
}

DeviceEnergy load_device_energy(const std::vector<std::string>& names, Watts limit,
                                const std::string& factors, bool changed) {
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
    std::tie(energy.interval_low, energy.interval_high) =
        read_interval80(facts.required("interval80", ""));
    const Node* like = facts.find("like");
    if (like == nullptr) return energy;
    fitted_file = file_of_device(like->as_text("like"));
    if (!fs::exists(fitted_file)) return energy;  // before the first fit: facts alone
  }
  read_energy_factors(fitted_file, energy);
  if (energy.is_calibrated && changed) forget_calibration(facts, energy);
  // A smaller board has fewer SMs to keep busy than the one that the factors are of.
  if (!energy.is_calibrated && facts.find("busy_share") != nullptr)
    energy.factors.busy = limit * sourced_number(facts, "busy_share", 0, 1);
  return energy;
}

DeviceEnergy changed_energy(DeviceEnergy energy, const EnergyChange& change) {
  if (!change.changes()) return energy;
  const EnergyPerByte before = energy.factors.dram;
  for (const EnergyFactor& factor : energy_factors()) {
    factor.set(energy.factors, factor.number(energy.factors) * change.switched);
  }
  const EnergyPerByte dram = before + change.memory;
  energy.factors.dram = EnergyPerByte(std::max(0.0, dram.value()));
  PowerFacts& facts = energy.facts;
  const Watts leaks = facts.active_idle * facts.leakage_share * change.leakage;
  facts.active_idle = facts.active_idle * (1 - facts.leakage_share) + leaks;
  if (facts.active_idle > Watts(0)) facts.leakage_share = leaks / facts.active_idle;
  energy.calibrated.clear();
  return energy;
}

DeviceEnergy at_full_clock(DeviceEnergy energy, double ratio) {
  if (ratio == 1) return energy;
  PowerFacts& facts = energy.facts;
  const double voltage = facts.curve_voltage(ratio);
  const double leaks = voltage * std::exp(facts.leakage_growth * (voltage - 1));
  const Watts busy = energy.factors.busy;
  energy = changed_energy(std::move(energy), {voltage * voltage, leaks, EnergyPerByte(0)});
  energy.factors.busy = busy * voltage * voltage * ratio;
  facts.leakage_growth *= voltage;
  facts.voltage_knee /= ratio;
  facts.voltage_floor /= voltage;
  facts.lowest_clock /= ratio;
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
  const Hertz full = published_device(device).clock.boost;
  const double voltage = energy.facts.curve_voltage(full / fitted->clock.boost);
  change.switched = own->energy / of_fitted->energy * voltage * voltage;
  change.memory = own->byte - of_fitted->byte;
  return change;
}

}  // namespace

DeviceEnergy load_gpu_energy(const GpuDeviceSpec& device, const std::string& factors) {
  DeviceEnergy energy = load_device_energy({device.id, device.architecture, "default"},
                                           device.power, factors, device.changed);
  if (energy.is_calibrated || energy.fitted_on.empty() || energy.fitted_on == device.id)
    return energy;
  // The watts of busy SMs are a share of the board's, whatever its process.
  const Watts busy = energy.factors.busy;
  const EnergyChange change = process_difference(device, energy);
  energy = changed_energy(std::move(energy), change);
  energy.factors.busy = busy;
  return energy;
}

}  // namespace foretell
