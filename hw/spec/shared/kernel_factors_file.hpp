// calib/factors/gpu/<kind>/<device>.yaml for kinds of kernels that have one set of factors per
// table of measurements:
//
//   device: h100-sxm
//   split: how the rows were divided
//   tables:
//     - table: trtllm context bf16 bf16
//       version: 1.3.0rc20
//       fitted_on: 2000 rows of 62 families, 11 free factors
//       held_out: 3000 rows of 24 families, MAPE 4.5 %, median 3.4 %, p90 9.7 %
//       interval80: [0.95, 1.08]      # measured / predicted on the rows held out
//       factors: {launch: 10 us, mma_efficiency: 0.76, …}
//       evidence: {…}                 # how sure: fit_evidence.hpp; not in every file
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "hw/spec/gpu/gpu_spec.hpp"
#include "hw/spec/shared/fit_evidence.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct KernelFactorSet {
  std::string table;
  std::string version;
  std::string fitted_on;
  std::string held_out;
  double interval_low = 1;  // measured / predicted
  double interval_high = 1;
  std::vector<std::pair<std::string, std::string>> factors;  // name, value with unit
  FitEvidence evidence;
};

struct KernelFactorsFile {
  std::string device;
  std::string split;
  std::vector<KernelFactorSet> sets;
};

KernelFactorsFile parse_kernel_factors(const std::string& text, const std::string& shown_as);
// The text that parse_kernel_factors reads.
std::string kernel_factors_text(const KernelFactorsFile& file);
// Replaces the set of the same table, or adds it.
void put_factor_set(KernelFactorsFile& file, KernelFactorSet set);

// Factors of `fields` that the set names; the others stay. UserError for names and values that are
// not allowed.
void read_factor_set(const KernelFactorSet& set, FieldList& fields);
// Those of `fields` that are not zero, with four digits.
std::vector<std::pair<std::string, std::string>> factor_texts(const FieldList& fields);

struct ChosenFactorSet {
  KernelFactorSet set;
  std::string device;  // that it was fitted on
};

// All files of a folder.
class KernelFactorsLibrary {
 public:
  explicit KernelFactorsLibrary(const std::filesystem::path& folder);

  // The set that was fitted on just this device to just this table; null when there is none.
  const KernelFactorSet* find(const std::string& device, const std::string& table) const;

  bool knows(const std::string& table) const;  // of any device
  std::vector<std::string> tables() const;     // of all devices, sorted

  // The first of `tables` that was fitted on the device; else on the nearest chip: of the same
  // generation first. On another chip the interval is that of transfer_intervals.hpp, or twice as
  // wide where there is none. UserError when there are no factors.
  ChosenFactorSet choose(const GpuDeviceSpec& device, const std::vector<std::string>& tables) const;

  // Leaves what was fitted on a device out of account.
  void hold_out(const std::string& device);

 private:
  std::string kind_;
  std::vector<KernelFactorsFile> files_;
};

}  // namespace foretell
