// calib/factors/gpu/gemm/<device>.yaml: what matrix products reach on a device, one set of factors
// per kernel library and data type, whose table is called "trtllm bf16" (factor_file.hpp).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "calib/fitted/gpu/gemm_factors.hpp"
#include "calib/fitted/gpu/kernel_factors_library.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"

namespace foretell {

// The parts of the name of a table.
std::string framework_of(const std::string& table);
std::string dtype_of(const std::string& table);

struct GemmFactorSet : FactorSet {
  GemmFactors factors;

  std::string framework() const;
  std::string dtype() const;
};

// The factors of a product, and where they are from.
struct ChosenGemmFactors {
  GemmFactorSet set;
  std::string note;    // "" when they were fitted on this device for this type
  std::string device;  // on which they were
};

// All files of a folder.
class GemmFactorsLibrary {
 public:
  explicit GemmFactorsLibrary(const std::filesystem::path& folder);

  // Adds the sets of another folder whose device, framework and type are not known yet.
  void add_missing(const GemmFactorsLibrary& other) { files_.add_missing(other.files_); }

  // What was fitted for the device, framework and type. What was not is taken from the nearest:
  // the same device and another type of the same pipe, then devices of the same generation, then
  // others. `framework` may be empty: that of networks, or the first that there is. Taken from
  // another device, latencies stay cycles and rates bytes per cycle; the launch follows the floor
  // of the chip, the matrix pipe its reachable rate. UserError when there is nothing at all to
  // take.
  ChosenGemmFactors choose(const GpuDeviceSpec& device, const std::string& framework,
                           const std::string& dtype) const;

  std::map<std::string, std::size_t> sets_by_device() const { return files_.sets_by_device(); }

  // For all sets.
  std::vector<std::string> frameworks() const;

  // Leaves what was fitted on a device out of account, to judge how well it is done without: its
  // sets, and those of other devices that share a number with it.
  void hold_out(const std::string& device) { files_.hold_out(device); }

 private:
  const FactorTable* find(const std::string& device, const std::string& framework,
                          const std::string& dtype) const;

  KernelFactorsLibrary files_;
};

// The folder of the factors of matrix products.
std::filesystem::path gemm_factors_folder();

}  // namespace foretell
