#include "calib/fitted/gpu/gpu_factor_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "calib/fitted/shared/common_factors_use.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "hw/spec/shared/parameter_list.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKinds[] = {
    "gemm", "attention",    "collective",  "operator",        "experts",
    "mla",  "mla_products", "state_space", "expert_exchange", "attention_block"};

bool has_kind(const fs::path& folder, const std::string& kind) {
  std::error_code error;
  return fs::is_directory(folder / "gpu" / kind, error);
}

std::vector<std::string> kinds_in(const fs::path& folder) {
  std::vector<std::string> kinds;
  for (const char* kind : kKinds) {
    if (has_kind(folder, kind)) kinds.emplace_back(kind);
  }
  return kinds;
}

// One library of all folders that have the kind.
KernelFactorsLibrary merged(const std::vector<fs::path>& folders, const std::string& kind,
                            const std::string& held_out) {
  std::optional<KernelFactorsLibrary> all;
  for (const fs::path& folder : folders) {
    if (!has_kind(folder, kind)) continue;
    KernelFactorsLibrary one(folder / "gpu" / kind);
    if (all) {
      all->add_missing(one);
    } else {
      all.emplace(std::move(one));
    }
  }
  if (!all) all.emplace(folders.back() / "gpu" / kind);
  if (!held_out.empty()) all->hold_out(held_out);
  return std::move(*all);
}

// Kernels or energies that the user measured on a device.
bool has_own_factors(const std::string& request, const std::string& device) {
  const std::string file = device + ".yaml";
  std::error_code error;
  const bool is_folder = !request.empty() && fs::is_directory(request, error);
  std::vector<fs::path> folders = {factors_folder()};
  if (is_folder) folders.emplace_back(request);
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / "energy" / file, error)) return true;
    for (const char* kind : kKinds) {
      if (fs::exists(folder / "gpu" / kind / file, error)) return true;
    }
  }
  return false;
}

struct KeptTables {
  // By folders, and the device that is held out.
  std::map<std::pair<std::vector<fs::path>, std::string>, std::shared_ptr<const GpuFactorTables>>
      by_folders;
};

}  // namespace

GpuFactorTables::GpuFactorTables(std::vector<fs::path> folders, std::string held_out)
    : folders_(std::move(folders)), held_out_(std::move(held_out)) {
  std::string bytes;
  for (const fs::path& folder : folders_) {
    for (const std::string& kind : kinds_in(folder)) {
      const fs::path files = folder / "gpu" / kind;
      for (const std::string& id : ids_in(files)) bytes += read_text_file(file_of(files, id));
    }
    bytes += common_factors_text(folder);
  }
  hash_ = content_hash(bytes);
}

std::shared_ptr<const GpuFactorTables> GpuFactorTables::of(const std::string& request,
                                                           const std::string& held_out) {
  const fs::path standard = factors_folder();
  std::vector<fs::path> folders = {standard};
  if (!request.empty()) {
    if (!fs::is_directory(request)) {
      throw UserError("factors: '" + request +
                      "' is no folder; GPUs take 'none' or a folder as calib/factors is one, which "
                      "`foretell calibrate fit -o FOLDER` writes");
    }
    if (kinds_in(request).empty()) {
      throw UserError(
          fmt::format("factors: '{}' holds no factors of GPUs; name the folder that holds gpu/{}",
                      request, fmt::join(kKinds, ", gpu/")));
    }
    folders.insert(folders.begin(), request);
  }
  std::shared_ptr<const GpuFactorTables>& tables =
      kept<KeptTables>().by_folders[{folders, held_out}];
  if (tables == nullptr) tables = std::make_shared<GpuFactorTables>(folders, held_out);
  return tables;
}

const CommonFactors& GpuFactorTables::common() const {
  const auto has_common = [](const fs::path& folder) {
    return fs::exists(folder / "common" / "kernels.yaml");
  };
  const auto first = std::find_if(folders_.begin(), folders_.end() - 1, has_common);
  if (!common_) common_ = load_common_factors(*first);
  return *common_;
}

const KernelFactorsLibrary& GpuFactorTables::kernels(const std::string& kind) const {
  const auto known = kernels_.find(kind);
  if (known != kernels_.end()) return known->second;
  return kernels_.emplace(kind, merged(folders_, kind, held_out_)).first->second;
}

std::string GpuFactorTables::note() const {
  if (folders_.size() < 2) return "";
  std::vector<std::string> others;
  for (const std::string& kind : kinds_in(folders_.back())) {
    if (!has_kind(folders_.front(), kind)) others.push_back(kind);
  }
  std::string text = "factors of " + join(kinds_in(folders_.front()), ", ") + " are those of " +
                     folders_.front().string() + ", where it has the device and table";
  if (!others.empty())
    text += "; it has none of " + join(others, ", ") + ": calib/factors stands in";
  return text;
}

std::string take_for_measured(const std::string& request, LoadedGpuSystem& system) {
  GpuDeviceSpec& device = system.spec.device;
  const bool is_named = device.id == device.like.device;
  if (!is_named && has_own_factors(request, device.id)) {
    device.like = {};
    return "";
  }
  device.like.note = likeness_note(device.id, device.like);
  if (!device.like.device.empty()) device.id = device.like.device;
  device.changed = device.changed || device.like.is_changed();
  mark_differing(device.like, system.parameters);
  return device.like.note;
}

}  // namespace foretell
