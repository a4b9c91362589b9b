#include "calib/fitted/cpu/cpu_factors.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "calib/fitted/shared/common_factors_use.hpp"
#include "calib/fitted/shared/factor_file.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/overrides.hpp"
#include "hw/spec/shared/parameter_list.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

const Range<double> kShareOfPeak{0.01, 2};
const Range<double> kPerVector{0, 1000};

struct CpuFactorsFile {
  std::string architecture;
  std::string cpu;
  double fp32_per_cycle = 0;  // FLOP of a core of the part that was measured; 0: not stated
  ChosenCpuFactors chosen;
};

// What the file says of the machine that was measured.
void read_machine(const FactorFile& from, const std::string& shown_as, CpuFactorsFile& file) {
  const auto fact = [&](const std::string& name) {
    const auto found = from.machine.find(name);
    if (found == from.machine.end()) throw UserError(shown_as + ": machine." + name + ": missing");
    return found->second;
  };
  file.architecture = fact("architecture");
  file.cpu = fact("cpu");
  for (const auto& [name, value] : from.machine) {
    if (name == "clock") {
      file.chosen.clock = parse_quantity<Hertz>(value);
    } else if (name == "fp32_per_cycle") {
      file.fp32_per_cycle = parse_quantity(value, Dimension{});
    } else if (name != "architecture" && name != "cpu") {
      throw UserError(shown_as + ": machine." + name +
                      ": no such fact; there are: architecture, clock, cpu, fp32_per_cycle");
    }
  }
}

CpuFactorsFile parse_file(const std::string& text, const std::string& shown_as) {
  CpuFactorsFile file;
  FieldList list;
  fields(list, file.chosen.factors);
  const FactorFile read =
      parse_factor_table(text, shown_as, {{"intervals", "correlation"}, &list, true});
  read_machine(read, shown_as, file);
  const FactorTable& table = read.tables.front();
  file.chosen.id =
      fmt::format("{}@{}", read.device, content_hash(text + common_factors_text(factors_folder())));
  file.chosen.intervals = {table.intervals, *table.correlation};
  const std::map<std::string, std::string> intervals = interval_texts(table.evidence);
  for (const Field& field : list.all()) {
    if (!field.has_value()) continue;
    Parameter parameter;
    parameter.path = "factors." + field.path;
    parameter.source = file.chosen.id;
    parameter.kind = ValueKind::kFitted;
    parameter.why = table.fitted_on;
    if (const auto known = intervals.find(field.path); known != intervals.end())
      parameter.interval80 = known->second;
    file.chosen.parameters.push_back(std::move(parameter));
  }
  return file;
}

// How well a file suits a device: the part itself, its architecture, and as many FLOP in a cycle,
// of which efficiencies are shares. 0: the nearest that there is.
constexpr int kSamePart = 4;
constexpr int kSameArchitecture = 2;
constexpr int kSameRate = 1;

int likeness(const CpuFactorsFile& file, const CpuDeviceSpec& device) {
  const auto rate = device.flops_per_cycle.find("fp32");
  const bool same_rate =
      rate != device.flops_per_cycle.end() && rate->second == file.fp32_per_cycle;
  return (file.cpu == device.name ? kSamePart : 0) +
         (file.architecture == device.architecture ? kSameArchitecture : 0) +
         (same_rate ? kSameRate : 0);
}

// `except`: the id of a file that does not count.
ChosenCpuFactors nearest_factors(const CpuDeviceSpec& device, const fs::path& folder,
                                 const std::string& except = "") {
  ChosenCpuFactors best;
  best.factors = ideal_cpu_factors();
  int best_likeness = -1;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return best;
  for (const std::string& id : ids_in(folder)) {
    if (id == except) continue;
    CpuFactorsFile file = parse_file(read_text_file(file_of(folder, id)), id + ".yaml");
    const int found = likeness(file, device);
    if (found <= best_likeness) continue;
    best_likeness = found;
    best = std::move(file.chosen);
    const bool is_part = found >= kSamePart + kSameArchitecture;
    if (!is_part) best.clock = Hertz(0);
    if (!is_part) best.note = "factors measured on " + file.cpu + " (" + file.architecture + ")";
    if ((found & kSameArchitecture) == 0) best.note += ", another architecture";
  }
  return best;
}

}  // namespace

void fields(FieldList& list, CpuFactors& factors) {
  const std::vector<std::string> types = {"fp32", "bf16", "fp16", "int8"};
  list.table("product_efficiency", factors.product_efficiency, types, kShareOfPeak, 1.0,
             "Share of the peak that the inner loop of a product reaches.");
  list.table("convolution_efficiency", factors.convolution_efficiency, types, kShareOfPeak, 1.0,
             "Share of the peak that the inner loop of a convolution reaches.");
  list.value("tile", factors.tile, {Cycles(0), Cycles(1e5)},
             "Start and end of one register block of a product.");
  list.value("tile_store", factors.tile_store, kPerVector,
             "Cycles per vector of results that leave a matrix unit.");
  list.value("l2_efficiency", factors.l2_efficiency, kShareOfPeak,
             "Of the second cache's bandwidth.");
  list.value("l3_efficiency", factors.l3_efficiency, kShareOfPeak,
             "Of the third cache's bandwidth.");
  list.value("l3_hold", factors.l3_hold, {0.05, 4},
             "Share of the third cache in which data are found again.");
  list.value("dram_efficiency", factors.dram_efficiency, {0.01, 1},
             "Of the peak of the memory channels, all cores together.");
  list.value("core_dram", factors.core_dram, {0.1, 1000},
             "Bytes per cycle that one core draws from memory.");
  list.value("stages_ahead", factors.stages_ahead, {0, 150},
             "Loads in flight ahead of what a core computes on; 0: computing and moving add up.");
  list.value("call", factors.call, {Seconds(0), Seconds(1e-3)},
             "Of a primitive, before its loop begins.");
  list.value("cold_call", factors.cold_call, {Seconds(0), Seconds(1e-2)},
             "More of a primitive whose code, page tables and operands have left the caches.");
  list.value("fork_join", factors.fork_join, {0, 100}, "Times the published fork and join.");
  list.value("copy", factors.copy, kPerVector, "Cycles per vector of a copy.");
  list.table("convert", factors.convert, {"bf16", "fp16", "int8"}, kPerVector, 1.0,
             "Cycles per vector brought to another type.");
  list.value("add", factors.add, kPerVector, "Cycles per vector of a sum.");
  list.value("gelu", factors.gelu, kPerVector, "Cycles per vector of functions by polynomials.");
  list.value("softmax", factors.softmax, kPerVector, "Cycles per vector of a softmax.");
  list.value("norm", factors.norm, kPerVector, "Cycles per vector of a norm.");
  list.value("reduce", factors.reduce, kPerVector, "Cycles per vector of a reduction.");
  list.value("pack", factors.pack, kPerVector,
             "Cycles per vector of operands that a product lays out anew.");
  list.value("strided", factors.strided, kPerVector,
             "Cycles per vector of operands of a product whose rows lie apart.");
  list.value("widen", factors.widen, kPerVector,
             "Cycles per vector of results of eight-bit products that are stored as FP32.");
  list.value("residual", factors.residual, kPerVector,
             "Cycles per vector of bias and residual at the end of a product.");
  list.value("split", factors.split, kPerVector,
             "Cycles per vector more on several threads: copies and conversions of narrow values, "
             "softmax.");
  list.value("narrow", factors.narrow, kPerVector,
             "Cycles per vector of values in less than four bytes, in addition.");
  list.table(
      "row", factors.row, {"softmax", "norm", "norm_tail", "reduce"}, Range<double>{0, 1e5}, 1.0,
      "Cycles per row of a softmax, norm or reduction; norm_tail: more of a norm whose columns "
      "fill no whole register.");
}

CpuFactors ideal_cpu_factors() {
  CpuFactors factors;
  for (const char* type : {"fp32", "bf16", "fp16", "int8"}) {
    factors.product_efficiency[type] = 1;
    factors.convolution_efficiency[type] = 1;
  }
  for (const char* type : {"bf16", "fp16", "int8"}) factors.convert[type] = 1;
  factors.core_dram = 1000;
  factors.stages_ahead = kAllAhead;
  return factors;
}

void use_measured_clock(const ChosenCpuFactors& chosen, LoadedCpuSystem& system) {
  if (!(chosen.clock > Hertz(0))) return;
  for (Parameter& parameter : system.parameters) {
    if (parameter.path != "device.clock.all_core") continue;
    if (parameter.kind != ValueKind::kAssumed || parameter.overridden) return;
    system.spec.device.clock.all_core = chosen.clock;
    parameter.value = format_quantity(chosen.clock.value(), dimension_of<Hertz>::value);
    parameter.kind = ValueKind::kMeasured;
    parameter.source = chosen.id;
    parameter.why = "while it was measured";
    --system.assumed_values;
  }
}

std::string take_for_measured(const ChosenCpuFactors& chosen, LoadedCpuSystem& system) {
  CpuDeviceSpec& device = system.spec.device;
  const bool is_measured = chosen.note.empty() && chosen.id != "none";
  if (is_measured && device.id != device.like.device) {
    device.like = {};
    return "";
  }
  device.like.note = likeness_note(device.id, device.like);
  if (!device.like.device.empty()) device.id = device.like.device;
  mark_differing(device.like, system.parameters);
  return device.like.note;
}

ChosenCpuFactors neighbour_cpu_factors(const CpuDeviceSpec& device, const std::string& id,
                                       const std::filesystem::path& folder) {
  return nearest_factors(device, folder / "cpu", id);
}

ChosenCpuFactors choose_cpu_factors(const CpuDeviceSpec& device, const std::string& which,
                                    const std::vector<std::string>& set,
                                    const std::filesystem::path& folder) {
  ChosenCpuFactors chosen;
  if (which == "none") {
    chosen.factors = ideal_cpu_factors();
  } else if (std::error_code error; which.empty() || fs::is_directory(which, error)) {
    chosen = nearest_factors(device, which.empty() ? folder / "cpu" : factors_file(which, "cpu"));
  } else {
    CpuFactorsFile file = parse_file(read_text_file(which), which);
    chosen = std::move(file.chosen);
    if (file.cpu != device.name) chosen.clock = Hertz(0);
    if (file.architecture != device.architecture) {
      chosen.note = "factors measured on " + file.cpu + ", another architecture";
    }
  }
  FieldList list;
  list.group("factors", chosen.factors);
  std::map<std::string, Provenance> provenance;
  Problems problems;
  const std::set<std::string> overridden = apply_overrides(list, set, provenance, problems);
  problems.throw_if_any();
  if (chosen.parameters.empty()) {
    for (const Field& field : list.all()) {
      if (!field.has_value()) continue;
      Parameter parameter;
      parameter.path = field.path;
      parameter.source = "none";
      parameter.kind = ValueKind::kNeutral;
      chosen.parameters.push_back(std::move(parameter));
    }
  }
  for (Parameter& parameter : chosen.parameters) {
    const Field& field = list.at(parameter.path);
    parameter.value = field.text();
    parameter.meaning = field.meaning;
    if (overridden.count(parameter.path) == 0) continue;
    parameter.overridden = true;
    parameter.source = "--set";
    parameter.kind = ValueKind::kOverride;
  }
  return chosen;
}

}  // namespace foretell
