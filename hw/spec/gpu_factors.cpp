#include "hw/spec/gpu_factors.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

#include "hw/spec/data_folder.hpp"
#include "hw/spec/gemm_factors_file.hpp"
#include "hw/spec/overrides.hpp"
#include "hw/spec/sm_ports.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

// One hash of all files, so that a record says with which numbers it was made.
std::string hash_of_folders(const std::vector<fs::path>& folders) {
  std::string bytes;
  for (const fs::path& folder : folders) {
    for (const std::string& id : ids_in(folder)) bytes += read_text_file(file_of(folder, id));
  }
  return content_hash(bytes);
}

CollectiveFactors choose_collectives(const GpuDeviceSpec& device) {
  static const KernelFactorsLibrary kLibrary(collective_factors_folder());
  return {link_factors(kLibrary.choose(device, {"nccl"}).set),
          link_factors(kLibrary.choose(device, {"vllm_custom graph"}).set)};
}

const GemmFactorsLibrary& library_in(const std::string& folder) {
  static std::map<std::string, GemmFactorsLibrary> libraries;
  const auto known = libraries.find(folder);
  return known != libraries.end()
             ? known->second
             : libraries.emplace(folder, GemmFactorsLibrary(folder)).first->second;
}

}  // namespace

GpuFactors::GpuFactors(const GpuDeviceSpec& device, const std::string& which,
                       std::vector<std::string> set)
    : device_(device), set_(std::move(set)) {
  GemmFactors products;
  AttentionFactors attention;
  apply_set(products, attention);  // finds mistakes before the work
  if (which == "none") return;
  const fs::path folder = which.empty() ? gemm_factors_folder() : fs::path(which);
  if (!fs::is_directory(folder)) {
    throw UserError("factors: '" + which +
                    "' is no folder; GPUs take 'none' or a folder with files like those in "
                    "calib/factors/gpu/gemm");
  }
  folder_ = folder.string();
  id_ = "gpu@" + hash_of_folders({folder, attention_factors_folder(), collective_factors_folder()});
  collectives_ = choose_collectives(device);
}

void GpuFactors::apply_set(GemmFactors& products, AttentionFactors& attention) const {
  FieldList list;
  list.group("factors", products);
  list.group("factors.attention", attention);
  std::map<std::string, Provenance> provenance;
  Problems problems;
  apply_overrides(list, set_, provenance, problems);
  problems.throw_if_any();
}

GemmFactors GpuFactors::gemm(const std::string& type) const {
  GemmFactors factors = folder_.empty() ? ideal_gemm_factors(device_)
                                        : library_in(folder_).choose(device_, "", type).set.factors;
  AttentionFactors attention;
  apply_set(factors, attention);
  return factors;
}

std::optional<ChosenAttentionFactors> GpuFactors::attention(
    const std::vector<std::string>& tables) const {
  if (folder_.empty()) return std::nullopt;
  static const AttentionFactorsLibrary kLibrary(attention_factors_folder());
  ChosenAttentionFactors chosen = kLibrary.choose(device_, tables);
  GemmFactors products;
  apply_set(products, chosen.factors);
  return chosen;
}

std::vector<Parameter> GpuFactors::parameters(const std::string& type) const {
  GemmFactors factors = gemm(type);
  FieldList list;
  list.group("factors", factors);
  std::vector<Parameter> parameters;
  for (const Field& field : list.all()) {
    Parameter parameter;
    parameter.path = field.path;
    parameter.value = field.text();
    parameter.source = id_;
    parameter.kind = folder_.empty() ? ValueKind::kNeutral : ValueKind::kFitted;
    parameter.meaning = field.meaning;
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

std::string GpuFactors::note(const std::string& type) const {
  if (folder_.empty()) return "";
  const std::string note = library_in(folder_).choose(device_, "", type).note;
  return note.empty() ? "" : type + ": " + note;
}

GemmFactors ideal_gemm_factors(const GpuDeviceSpec& device) {
  GemmFactors factors;
  factors.launch = device.launch_floor;
  factors.sm_feed = BytesPerCycle(kSharedMemoryPort);
  factors.l2_feed = BytesPerCycle(kL2Port);
  factors.epilogue = BytesPerCycle(kL2Port);
  factors.overlap = kHardMaximum;
  return factors;
}

fs::path collective_factors_folder() {
  return default_catalog_paths().factors / "gpu" / "collective";
}

}  // namespace foretell
