// Every fitted number of GPU kernels: the folders below calib/factors/gpu, one for each kind of
// kernels.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "calib/fitted/shared/common_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"

namespace foretell {

// Reads a kind when it is first asked for.
class GpuFactorTables {
 public:
  // Folders like calib/factors. What several of them have counts as in the first.
  // What was fitted on `held_out`, a device, is left out of account; "": nothing.
  explicit GpuFactorTables(std::vector<std::filesystem::path> folders, std::string held_out = "");

  // Those of a request: "" is factors_folder(), else the named folder before that. The same object
  // for equal requests of a run, in which files do not change. UserError when the folder is not
  // there or holds no factors of GPUs, with what it should hold.
  static std::shared_ptr<const GpuFactorTables> of(const std::string& request,
                                                   const std::string& held_out = "");

  // Of a kind: "gemm", "attention", "collective", "operator" or one of layers: "experts", "mla", ….
  const KernelFactorsLibrary& kernels(const std::string& kind) const;

  // From the first folder that has common/kernels.yaml.
  const CommonFactors& common() const;

  // The hash of every file, so that a record says with which numbers it was made.
  const std::string& hash() const { return hash_; }
  // "" unless a folder was named that lacks kinds: which of them are from factors_folder().
  std::string note() const;

 private:
  std::vector<std::filesystem::path> folders_;
  std::string held_out_;
  std::string hash_;
  mutable std::optional<CommonFactors> common_;
  mutable std::map<std::string, KernelFactorsLibrary> kernels_;
};

// Takes a device of the user's for the one that it is like, unless it has factors of its own in the
// folder of the request or in calib/factors: under the id of that one, it has its factors, energies
// and dies. What a result says of it; "" for nothing.
std::string take_for_measured(const std::string& request, LoadedGpuSystem& system);

}  // namespace foretell
