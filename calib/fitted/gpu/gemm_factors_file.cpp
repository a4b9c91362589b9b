#include "calib/fitted/gpu/gemm_factors_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "calib/fitted/gpu/gpu_transfer.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/gpu/gpu_architecture.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "hw/spec/gpu/kernel_library.hpp"
#include "hw/spec/shared/follow_override.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

double ratio_at(const Node& list, std::size_t index) {
  if (!list.is_list() || list.items.size() != 2) {
    throw UserError(list.where() + ": interval80: expected two numbers: [low, high]");
  }
  return parse_quantity(list.items[index].text, Dimension{});
}

GemmFactorSet read_set(const Node& node, Problems& problems) {
  node.only_keys({"framework", "version", "dtype", "fitted_on", "held_out", "interval80", "like",
                  "factors", "evidence"},
                 "tables");
  GemmFactorSet set;
  const auto text = [&](const char* key) { return node.required(key, "tables").as_text(key); };
  set.framework = text("framework");
  set.version = text("version");
  set.dtype = text("dtype");
  set.fitted_on = text("fitted_on");
  set.held_out = text("held_out");
  const Node& interval = node.required("interval80", "tables");
  set.interval_low = ratio_at(interval, 0);
  set.interval_high = ratio_at(interval, 1);
  FieldList list;
  fields(list, set.factors);
  set.stated.like = read_factor_parent(node);
  for (const MapEntry& entry : node.required("factors", "tables").entries) {
    const Field* field = list.find(entry.key);
    if (field == nullptr) {
      const std::string nearest = list.nearest(entry.key);
      problems.add(entry.value, entry.key,
                   "no such factor" + (nearest.empty() ? "" : "; nearest is '" + nearest + "'"));
    } else {
      read_plain_value(*field, entry.value, problems);
      set.stated.own.emplace_back(entry.key, entry.value.text);
    }
  }
  if (const Node* evidence = node.find("evidence")) set.evidence = read_fit_evidence(*evidence);
  return set;
}

bool has_tensor_memory_accelerator(const std::string& architecture) {
  return gpu_architecture(architecture).tensor_memory_accelerator > 0;
}

// Types whose kernels are the same but for the name, or nearly. INT8 with that accelerator is the
// kernel of FP8 with another instruction; without it there is no FP8 kernel to learn from.
std::vector<std::string> like(const std::string& dtype, const std::string& architecture) {
  if (dtype == "fp16") return {"fp16", "bf16"};
  if (dtype == "tf32" || dtype == "fp32") return {dtype, "bf16"};
  if (dtype == "int8" && !has_tensor_memory_accelerator(architecture)) {
    return {dtype, "int8_sq", "fp8", "bf16"};
  }
  if (dtype == "int8" || dtype == "fp8_static") return {dtype, "fp8", "int8_sq", "bf16"};
  if (dtype == "fp8_block") return {dtype, "fp8"};
  if (dtype == "nvfp4") return {dtype, "fp8_block", "fp8"};
  if (dtype == "int4_wo") return {dtype, "int8_wo"};
  return {dtype};
}

bool has_no_quantising_pass(const std::string& dtype) {
  return dtype == "int8" || dtype == "fp8_static";
}

// Where the matrix pipe applies the scales of blocks, what comes nearest on chips whose pipe does
// not are persistent FP8 kernels after one quantising pass, not those that scale blocks on the
// vector pipe.
bool is_scaled_by_block(const std::string& dtype) {
  return dtype == "fp8_block" || dtype == "nvfp4";
}

bool scales_in_matrix_pipe(const std::string& architecture) {
  return gpu_architecture(architecture).scales_blocks > 0;
}

void follow_overrides(GemmFactors& factors, const GpuDeviceSpec& device) {
  const GpuDeviceSpec& published = published_device(device);
  for (Seconds* launch : {&factors.launch, &factors.quantise_launch, &factors.gemv_launch}) {
    if (*launch > Seconds(0))
      *launch = follow_time(*launch, published.launch_floor, device.launch_floor);
  }
  factors.mma_efficiency =
      follow_share(factors.mma_efficiency, published.reachable_rate, device.reachable_rate);
  factors.l2_share =
      follow_share(factors.l2_share, published.l2.resident_share, device.l2.resident_share);
}

}  // namespace

std::string gemm_table(const GemmFactorSet& set) { return set.framework + ' ' + set.dtype; }

GemmFactorsFile parse_gemm_factors(const std::string& text, const std::string& shown_as) {
  const Node root = parse_document(text, shown_as);
  root.only_keys({"device", "split", "tables"}, "");
  GemmFactorsFile file;
  file.device = root.required("device", "").as_text("device");
  file.split = root.required("split", "").as_text("split");
  file.id = fmt::format("{}@{}", file.device, content_hash(text));
  Problems problems;
  for (const Node& node : root.required("tables", "").items) {
    problems.collect([&] { file.sets.push_back(read_set(node, problems)); });
  }
  problems.throw_if_any();
  return file;
}

GemmFactorsLibrary::GemmFactorsLibrary(const fs::path& folder)
    : transfers_(transfer_intervals_beside(folder)) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".yaml") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    files_.push_back(parse_gemm_factors(read_text_file(path), path.string()));
  }
  resolve(nullptr);
}

void GemmFactorsLibrary::resolve(const GemmFactorsLibrary* other) {
  const FindStated find_stated = [&](const std::string& device, const std::string& table) {
    const GemmFactorSet* set = find_table(device, table);
    if (set == nullptr && other != nullptr) set = other->find_table(device, table);
    return set == nullptr ? nullptr : &set->stated;
  };
  for (GemmFactorsFile& file : files_) {
    for (GemmFactorSet& set : file.sets) {
      if (!set.fitted_devices.empty()) continue;
      const auto resolved = resolve_factors(file.device, gemm_table(set), find_stated);
      if (!resolved) continue;
      set.factors = GemmFactors{};
      FieldList list;
      fields(list, set.factors);
      for (const auto& [name, value] : resolved->factors) list.at(name).assign(value);
      set.fitted_devices = resolved->devices;
    }
  }
}

const GemmFactorSet* GemmFactorsLibrary::find_table(const std::string& device,
                                                    const std::string& table) const {
  for (const GemmFactorsFile& file : files_) {
    if (file.device != device) continue;
    for (const GemmFactorSet& set : file.sets) {
      if (gemm_table(set) == table) return &set;
    }
  }
  return nullptr;
}

void GemmFactorsLibrary::add_missing(const GemmFactorsLibrary& other) {
  resolve(&other);
  for (const GemmFactorsFile& file : other.files_) {
    GemmFactorsFile more{file.device, file.id, file.split, {}};
    for (const GemmFactorSet& set : file.sets) {
      const GemmFactorSet* const known = find(file.device, set.framework, set.dtype);
      if (known == nullptr || known->framework != set.framework) more.sets.push_back(set);
    }
    if (!more.sets.empty()) files_.push_back(std::move(more));
  }
  if (transfers_.empty()) transfers_ = other.transfers_;
}

void GemmFactorsLibrary::hold_out(const std::string& device) {
  for (GemmFactorsFile& file : files_) {
    file.sets.erase(std::remove_if(file.sets.begin(), file.sets.end(),
                                   [&](const GemmFactorSet& set) {
                                     return file.device == device ||
                                            set.fitted_devices.count(device) > 0;
                                   }),
                    file.sets.end());
  }
  files_.erase(std::remove_if(files_.begin(), files_.end(),
                              [](const GemmFactorsFile& file) { return file.sets.empty(); }),
               files_.end());
}

std::map<std::string, std::size_t> GemmFactorsLibrary::sets_by_device() const {
  std::map<std::string, std::size_t> counts;
  for (const GemmFactorsFile& file : files_) counts[file.device] += file.sets.size();
  return counts;
}

std::vector<std::string> GemmFactorsLibrary::frameworks() const {
  std::vector<std::string> names;
  for (const GemmFactorsFile& file : files_) {
    for (const GemmFactorSet& set : file.sets) names.push_back(set.framework);
  }
  return names;
}

const GemmFactorSet* GemmFactorsLibrary::find(const std::string& device,
                                              const std::string& framework,
                                              const std::string& dtype) const {
  const GemmFactorSet* any = nullptr;
  for (const GemmFactorsFile& file : files_) {
    if (file.device != device) continue;
    for (const GemmFactorSet& set : file.sets) {
      if (set.dtype != dtype) continue;
      if (set.framework == framework) return &set;
      if (any == nullptr || set.framework == kernel_libraries().choice().networks) any = &set;
    }
  }
  return any;
}

ChosenGemmFactors GemmFactorsLibrary::choose(const GpuDeviceSpec& device,
                                             const std::string& framework,
                                             const std::string& dtype) const {
  std::vector<std::string> fitted;
  for (const GemmFactorsFile& file : files_) fitted.push_back(file.device);
  std::vector<std::string> devices = {device.id};
  for (std::string& teacher : nearest_devices(device, fitted))
    devices.push_back(std::move(teacher));
  const bool scales = is_scaled_by_block(dtype) && scales_in_matrix_pipe(device.architecture);
  for (const std::string& similar : like(dtype, device.architecture)) {
    for (const std::string& from : devices) {
      const GpuDeviceSpec* teacher = find_published_device(from);
      const bool scaled_otherwise =
          scales && from != device.id && !scales_in_matrix_pipe(teacher->architecture);
      if (scaled_otherwise && similar != "fp8") continue;
      const GemmFactorSet* found = find(
          from, scaled_otherwise ? kernel_libraries().choice().scaled_in_pipe : framework, similar);
      if (found == nullptr) continue;
      if (found->fitted_devices.empty()) {
        throw missing_parent(from, gemm_table(*found), *found->stated.like);
      }
      ChosenGemmFactors chosen{*found, ""};
      if (has_no_quantising_pass(dtype)) {
        chosen.set.factors.quantise_launch = Seconds(0);
        chosen.set.factors.quantise_passes = 0;
        chosen.set.factors.quantise_row = Cycles(0);
      }
      const bool other_kernels = !framework.empty() && found->framework != framework;
      if (from != device.id) {
        carry_over(chosen.set.factors, found->dtype, *teacher, device);
        std::tie(chosen.set.interval_low, chosen.set.interval_high) =
            interval80_on_another_chip(transfers_, "gemm", device.architecture, from,
                                       {found->interval_low, found->interval_high});
      } else {
        follow_overrides(chosen.set.factors, device);
      }
      if (from != device.id || similar != dtype || other_kernels) {
        chosen.note = fmt::format("factors of {} {} on {}", found->framework, found->dtype, from);
      }
      return chosen;
    }
  }
  throw UserError(
      fmt::format("no factors of matrix products in {} are known for {} or a chip "
                  "like it; `foretell calibrate fit` makes them",
                  dtype, device.name));
}

fs::path gemm_factors_folder() { return factors_folder() / "gpu" / "gemm"; }

}  // namespace foretell
