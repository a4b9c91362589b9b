#include "calib/fitted/gpu/kernel_factors_library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "calib/fitted/gpu/attention_block_factors.hpp"
#include "calib/fitted/gpu/attention_factors.hpp"
#include "calib/fitted/gpu/gemm_factors.hpp"
#include "calib/fitted/gpu/layer_kernel_factors.hpp"
#include "calib/fitted/gpu/link_factors.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/config/document.hpp"
#include "model/config/unit_text.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

// Beside its factors, what a table of measured kernels has to say.
const FactorRules kKernelRules{{"version", "held_out", "interval80"}};

}  // namespace

fs::path kernel_factors_folder(const std::string& kind) { return factors_folder() / "gpu" / kind; }

FactorFile parse_kernel_factors(const std::string& text, const std::string& shown_as,
                                FieldList* fields) {
  FactorRules rules = kKernelRules;
  rules.fields = fields;
  return parse_factor_file(text, shown_as, rules);
}

void clear_fields(const FieldList& fields) {
  for (const Field& field : fields.all()) {
    field.assign(format_quantity(std::max(0.0, field.min), field.dimension));
  }
}

void read_factor_set(const FactorTable& set, FieldList& fields) {
  clear_fields(fields);
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

namespace {

template <class Factors>
FactorFile parse_as(const std::string& text, const std::string& shown_as) {
  Factors factors;
  FieldList list;
  fields(list, factors);
  return parse_kernel_factors(text, shown_as, &list);
}

// Single operators have products and passes, whose factors differ.
FactorFile parse_kind(const std::string& kind, const std::string& text,
                      const std::string& shown_as) {
  if (kind == "gemm") return parse_as<GemmFactors>(text, shown_as);
  if (kind == "attention") return parse_as<AttentionFactors>(text, shown_as);
  if (kind == "attention_block") return parse_as<AttentionBlockFactors>(text, shown_as);
  if (kind == "collective") return parse_as<LinkFactors>(text, shown_as);
  for (const char* layers : {"experts", "mla", "mla_products", "state_space", "expert_exchange"}) {
    if (kind == layers) return parse_as<LayerKernelFactors>(text, shown_as);
  }
  return parse_kernel_factors(text, shown_as);
}

}  // namespace

KernelFactorsLibrary::KernelFactorsLibrary(const fs::path& folder)
    : kind_(folder.filename().string()), transfers_(transfer_intervals_beside(folder)) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    FactorFile file = parse_kind(kind_, read_text_file(path), path.string());
    (file.device == kCommonDevice ? common_ : files_.emplace_back()) = std::move(file);
  }
  resolve(nullptr);
}

void KernelFactorsLibrary::resolve(const KernelFactorsLibrary* other) {
  const FindStated find_stated = [&](const std::string& device, const std::string& table) {
    const FactorTable* set = find(device, table);
    if (set == nullptr && other != nullptr) set = other->find(device, table);
    return set == nullptr ? nullptr : &set->stated;
  };
  const FindCommon find_common = [&](const std::string& table) {
    const FactorTexts* texts = common(table);
    return texts == nullptr && other != nullptr ? other->common(table) : texts;
  };
  for (FactorFile& file : files_) {
    for (FactorTable& set : file.tables) {
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
  for (const FactorFile& file : other.files_) {
    FactorFile more{file.device, file.split, {}, {}};
    for (const FactorTable& set : file.tables) {
      if (find(file.device, set.table) == nullptr) more.tables.push_back(set);
    }
    if (!more.tables.empty()) files_.push_back(std::move(more));
  }
  if (transfers_.empty()) transfers_ = other.transfers_;
}

const FactorTexts* KernelFactorsLibrary::common(const std::string& table) const {
  for (const FactorTable& set : common_.tables) {
    if (set.table == table) return &set.factors;
  }
  return nullptr;
}

void KernelFactorsLibrary::hold_out(const std::string& device) {
  for (FactorFile& file : files_) {
    file.tables.erase(std::remove_if(file.tables.begin(), file.tables.end(),
                                     [&](const FactorTable& set) {
                                       return file.device == device ||
                                              set.fitted_devices.count(device) > 0;
                                     }),
                      file.tables.end());
  }
  files_.erase(std::remove_if(files_.begin(), files_.end(),
                              [](const auto& file) { return file.tables.empty(); }),
               files_.end());
}

std::map<std::string, std::size_t> KernelFactorsLibrary::sets_by_device() const {
  std::map<std::string, std::size_t> counts;
  for (const FactorFile& file : files_) counts[file.device] += file.tables.size();
  return counts;
}

const FactorTable* KernelFactorsLibrary::find(const std::string& device,
                                              const std::string& table) const {
  for (const FactorFile& file : files_) {
    if (file.device != device) continue;
    for (const FactorTable& set : file.tables) {
      if (set.table == table) return &set;
    }
  }
  return nullptr;
}

std::pair<double, double> KernelFactorsLibrary::interval80(const FactorSet& set,
                                                           const std::string& from,
                                                           const GpuDeviceSpec& device) const {
  const std::pair<double, double> own(set.interval_low, set.interval_high);
  if (from == device.id && !device.changed) return own;
  const auto other = interval80_on_another_chip(transfers_, kind_, device.architecture, from, own);
  if (!device.changed) return other;
  const auto [low, high] = from == device.id ? own : other;
  return {std::min(low * low, other.first), std::max(high * high, other.second)};
}

bool KernelFactorsLibrary::knows(const std::string& table) const {
  return std::any_of(files_.begin(), files_.end(),
                     [&](const auto& file) { return find(file.device, table) != nullptr; });
}

std::vector<std::string> KernelFactorsLibrary::tables() const {
  std::set<std::string> names;
  for (const FactorFile& file : files_) {
    for (const FactorTable& set : file.tables) names.insert(set.table);
  }
  return {names.begin(), names.end()};
}

ChosenFactorSet KernelFactorsLibrary::choose(const GpuDeviceSpec& device,
                                             const std::vector<std::string>& tables) const {
  std::vector<std::string> fitted;
  for (const FactorFile& file : files_) fitted.push_back(file.device);
  const auto has_one = [&](const std::string& table) { return find(device.id, table) != nullptr; };
  std::vector<std::string> devices = {device.id};
  if (std::none_of(tables.begin(), tables.end(), has_one)) {
    devices = nearest_devices(device, fitted);
  }
  for (const std::string& from : devices) {
    for (const std::string& table : tables) {
      const FactorTable* set = find(from, table);
      if (set == nullptr) continue;
      if (set->fitted_devices.empty()) throw missing_sets(from, set->table, set->stated);
      ChosenFactorSet chosen{*set, from};
      std::tie(chosen.set.interval_low, chosen.set.interval_high) = interval80(*set, from, device);
      return chosen;
    }
  }
  throw UserError(fmt::format(
      "no factors of {} are known for {} or a chip like it; `foretell calibrate fit` makes them",
      kind_, device.name));
}

}  // namespace foretell
