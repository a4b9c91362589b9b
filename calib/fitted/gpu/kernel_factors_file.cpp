#include "calib/fitted/gpu/kernel_factors_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "calib/fitted/shared/fitted_values.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

bool has_common(const Node& set) {
  const Node* common = set.find("common");
  if (common == nullptr) return false;
  if (common->as_text("common") == "true") return true;
  throw UserError(common->where() + ": common: true, or leave it out");
}

KernelFactorSet read_set(const Node& node, bool is_common, FieldList* fields, Problems& problems) {
  const auto text = [&](const char* key) { return node.required(key, "tables").as_text(key); };
  KernelFactorSet set;
  set.table = text("table");
  set.fitted_on = text("fitted_on");
  if (is_common) {
    node.only_keys({"table", "fitted_on", "factors"}, "tables");
  } else {
    node.only_keys({"table", "version", "fitted_on", "held_out", "interval80", "like", "common",
                    "factors", "evidence"},
                   "tables");
    set.version = text("version");
    set.held_out = text("held_out");
    std::tie(set.interval_low, set.interval_high) =
        read_interval80(node.required("interval80", "tables"));
  }
  for (const MapEntry& entry : node.required("factors", "tables").entries) {
    const Field* field = fields == nullptr ? nullptr : fields->find(entry.key);
    if (field != nullptr) read_plain_value(*field, entry.value, problems);
    if (fields != nullptr && field == nullptr) {
      const std::string nearest = fields->nearest(entry.key);
      problems.add(entry.value, entry.key,
                   "no such factor" + (nearest.empty() ? "" : "; nearest is '" + nearest + "'"));
    }
    set.factors.emplace_back(entry.key, entry.value.as_text(entry.key));
  }
  set.stated = {set.factors, read_factor_parent(node), has_common(node)};
  if (const Node* evidence = node.find("evidence")) set.evidence = read_fit_evidence(*evidence);
  return set;
}

std::string stated_factors_text(const FactorTexts& factors) {
  if (factors.empty()) return "    factors: {}\n";
  std::string text = "    factors:\n";
  for (const auto& [name, value] : factors) text += fmt::format("      {}: {}\n", name, value);
  return text;
}

std::string common_sets_text(const KernelFactorsFile& file) {
  std::string text = "device: " + file.device + "\ntables:\n";
  for (const KernelFactorSet& set : file.sets) {
    text += fmt::format("  - table: {}\n    fitted_on: \"{}\"\n", set.table, set.fitted_on);
    text += stated_factors_text(set.factors);
  }
  return text;
}

}  // namespace

KernelFactorsFile parse_kernel_factors(const std::string& text, const std::string& shown_as,
                                       FieldList* fields) {
  const Node root = parse_document(text, shown_as);
  root.only_keys({"device", "split", "tables"}, "");
  KernelFactorsFile file;
  file.device = root.required("device", "").as_text("device");
  const bool is_common = file.device == kCommonDevice;
  if (!is_common) file.split = root.required("split", "").as_text("split");
  Problems problems;
  for (const Node& node : root.required("tables", "").items) {
    problems.collect([&] { file.sets.push_back(read_set(node, is_common, fields, problems)); });
  }
  problems.throw_if_any();
  return file;
}

std::string kernel_factors_text(const KernelFactorsFile& file) {
  std::string text =
      "# Written by `foretell calibrate fit`; do not edit. Cycles are of the boost clock, B/cycle\n"
      "# are of one SM; a factor that is not named does not apply.\n";
  if (file.device == kCommonDevice) return text + common_sets_text(file);
  text += fmt::format("device: {}\nsplit: \"{}\"\ntables:\n", file.device, file.split);
  for (const KernelFactorSet& set : file.sets) {
    text += fmt::format(
        "  - table: {}\n    version: {}\n    fitted_on: \"{}\"\n    held_out: \"{}\"\n"
        "    interval80: [{:.3f}, {:.3f}]\n",
        set.table, set.version, set.fitted_on, set.held_out, set.interval_low, set.interval_high);
    text += factor_parent_text(set.stated.like);
    if (set.stated.has_common) text += "    common: true\n";
    text += stated_factors_text(set.is_whole() ? set.factors : set.stated.own);
    text += fit_evidence_text(set.evidence, "    ");
  }
  return text;
}

void put_factor_set(KernelFactorsFile& file, KernelFactorSet set) {
  const auto known = std::find_if(file.sets.begin(), file.sets.end(),
                                  [&](const auto& other) { return other.table == set.table; });
  if (known == file.sets.end()) {
    file.sets.push_back(std::move(set));
  } else {
    *known = std::move(set);
  }
}

void read_factor_set(const KernelFactorSet& set, FieldList& fields) {
  for (const auto& [name, value] : set.factors) fields.at(name).assign(value);
}

FactorTexts factor_texts(const FieldList& fields) {
  FactorTexts texts;
  for (const Field& field : fields.all()) {
    const double value = rounded_to(field.number(), 4);
    if (value != 0) texts.emplace_back(field.path, format_quantity(value, field.dimension));
  }
  return texts;
}

KernelFactorsLibrary::KernelFactorsLibrary(const fs::path& folder, FieldList* fields)
    : kind_(folder.filename().string()), transfers_(transfer_intervals_beside(folder)) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    KernelFactorsFile file = parse_kernel_factors(read_text_file(path), path.string(), fields);
    (file.device == kCommonDevice ? common_ : files_.emplace_back()) = std::move(file);
  }
  resolve(nullptr);
}

void KernelFactorsLibrary::resolve(const KernelFactorsLibrary* other) {
  const FindStated find_stated = [&](const std::string& device, const std::string& table) {
    const KernelFactorSet* set = find(device, table);
    if (set == nullptr && other != nullptr) set = other->find(device, table);
    return set == nullptr ? nullptr : &set->stated;
  };
  const FindCommon find_common = [&](const std::string& table) {
    const FactorTexts* texts = common(table);
    return texts == nullptr && other != nullptr ? other->common(table) : texts;
  };
  for (KernelFactorsFile& file : files_) {
    for (KernelFactorSet& set : file.sets) {
      if (!set.fitted_devices.empty()) continue;
      if (auto resolved = resolve_factors(file.device, set.table, find_stated, find_common)) {
        set.factors = std::move(resolved->factors);
        set.fitted_devices = std::move(resolved->devices);
      }
    }
  }
}

void KernelFactorsLibrary::add_missing(const KernelFactorsLibrary& other) {
  resolve(&other);
  for (const KernelFactorsFile& file : other.files_) {
    KernelFactorsFile more{file.device, file.split, {}};
    for (const KernelFactorSet& set : file.sets) {
      if (find(file.device, set.table) == nullptr) more.sets.push_back(set);
    }
    if (!more.sets.empty()) files_.push_back(std::move(more));
  }
  if (transfers_.empty()) transfers_ = other.transfers_;
}

const FactorTexts* KernelFactorsLibrary::common(const std::string& table) const {
  for (const KernelFactorSet& set : common_.sets) {
    if (set.table == table) return &set.factors;
  }
  return nullptr;
}

void KernelFactorsLibrary::hold_out(const std::string& device) {
  for (KernelFactorsFile& file : files_) {
    file.sets.erase(std::remove_if(file.sets.begin(), file.sets.end(),
                                   [&](const KernelFactorSet& set) {
                                     return file.device == device ||
                                            set.fitted_devices.count(device) > 0;
                                   }),
                    file.sets.end());
  }
  files_.erase(std::remove_if(files_.begin(), files_.end(),
                              [](const auto& file) { return file.sets.empty(); }),
               files_.end());
}

std::map<std::string, std::size_t> KernelFactorsLibrary::sets_by_device() const {
  std::map<std::string, std::size_t> counts;
  for (const KernelFactorsFile& file : files_) counts[file.device] += file.sets.size();
  return counts;
}

const KernelFactorSet* KernelFactorsLibrary::find(const std::string& device,
                                                  const std::string& table) const {
  for (const KernelFactorsFile& file : files_) {
    if (file.device != device) continue;
    for (const KernelFactorSet& set : file.sets) {
      if (set.table == table) return &set;
    }
  }
  return nullptr;
}

std::pair<double, double> KernelFactorsLibrary::interval80(const FactorSet& set,
                                                           const std::string& from,
                                                           const GpuDeviceSpec& device) const {
  return interval80_on_another_chip(transfers_, kind_, device.architecture, from,
                                    {set.interval_low, set.interval_high});
}

bool KernelFactorsLibrary::knows(const std::string& table) const {
  return std::any_of(files_.begin(), files_.end(),
                     [&](const auto& file) { return find(file.device, table) != nullptr; });
}

std::vector<std::string> KernelFactorsLibrary::tables() const {
  std::set<std::string> names;
  for (const KernelFactorsFile& file : files_) {
    for (const KernelFactorSet& set : file.sets) names.insert(set.table);
  }
  return {names.begin(), names.end()};
}

ChosenFactorSet KernelFactorsLibrary::choose(const GpuDeviceSpec& device,
                                             const std::vector<std::string>& tables) const {
  std::vector<std::string> fitted;
  for (const KernelFactorsFile& file : files_) fitted.push_back(file.device);
  const auto has_one = [&](const std::string& table) { return find(device.id, table) != nullptr; };
  std::vector<std::string> devices = {device.id};
  if (std::none_of(tables.begin(), tables.end(), has_one)) {
    devices = nearest_devices(device, fitted);
  }
  for (const std::string& from : devices) {
    for (const std::string& table : tables) {
      const KernelFactorSet* set = find(from, table);
      if (set == nullptr) continue;
      if (set->fitted_devices.empty()) throw missing_sets(from, set->table, set->stated);
      ChosenFactorSet chosen{*set, from};
      if (from != device.id) {
        std::tie(chosen.set.interval_low, chosen.set.interval_high) =
            interval80(*set, from, device);
      }
      return chosen;
    }
  }
  throw UserError(fmt::format(
      "no factors of {} are known for {} or a chip like it; `foretell calibrate fit` makes them",
      kind_, device.name));
}

}  // namespace foretell
