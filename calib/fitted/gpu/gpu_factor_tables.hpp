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

}  // namespace foretell
