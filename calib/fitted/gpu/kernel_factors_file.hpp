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
//     - table: trtllm context fp8 fp8
//       like: {device: h100-sxm, table: trtllm context bf16 bf16}   # shared_factors.hpp
//       factors: {score: 4 cycles}                                  # its own, the rest is shared
//       …
//
// and calib/factors/gpu/<kind>/common.yaml for what a table has on every chip:
//
//   device: common
//   tables:
//     - table: trtllm context bf16 bf16
//       fitted_on: a100-sxm, h100-sxm
//       factors: {launch: 10 us}
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calib/fitted/gpu/shared_factors.hpp"
#include "calib/fitted/gpu/transfer_intervals.hpp"
#include "calib/fitted/shared/fit_evidence.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/config/fields.hpp"

namespace foretell {

// What is known of a set of factors beside their values.
struct FactorSet {
  std::string table;
  std::string version;
  std::string fitted_on;
  std::string held_out;
  double interval_low = 1;  // measured / predicted
  double interval_high = 1;
  StatedFactors stated;  // what the file states, where the set is like another
  FitEvidence evidence;
  // A library's: where the numbers were fitted on; empty until the set that it is like is there.
  std::set<std::string> fitted_devices;
};

struct KernelFactorSet : FactorSet {
  FactorTexts factors;  // of a library all; of a file what it states

  // Does it state all of its factors itself?
  bool is_whole() const { return !stated.like && !stated.has_common; }
};

inline constexpr const char* kCommonDevice = "common";  // of the file of what chips have in common

struct KernelFactorsFile {
  std::string device;
  std::string split;
  std::vector<KernelFactorSet> sets;
};

// `fields`: the factors that there are; null: any. All errors of the file in one UserError.
KernelFactorsFile parse_kernel_factors(const std::string& text, const std::string& shown_as,
                                       FieldList* fields = nullptr);
// The text that parse_kernel_factors reads.
std::string kernel_factors_text(const KernelFactorsFile& file);
// Replaces the set of the same table, or adds it.
void put_factor_set(KernelFactorsFile& file, KernelFactorSet set);

// Factors of `fields` that the set names; the others stay. UserError for names and values that are
// not allowed.
void read_factor_set(const KernelFactorSet& set, FieldList& fields);
// Those of `fields` that are not zero, with four digits.
FactorTexts factor_texts(const FieldList& fields);

struct ChosenFactorSet {
  KernelFactorSet set;
  std::string device;  // that it was fitted on
};

// All files of a folder, with transfer.yaml beside it.
class KernelFactorsLibrary {
 public:
  explicit KernelFactorsLibrary(const std::filesystem::path& folder, FieldList* fields = nullptr);

  // Adds the sets of another folder of the kind whose device and table are not known yet.
  void add_missing(const KernelFactorsLibrary& other);

  // The set that was fitted on just this device to just this table, with all its factors; null when
  // there is none.
  const KernelFactorSet* find(const std::string& device, const std::string& table) const;

  bool knows(const std::string& table) const;  // of any device
  std::vector<std::string> tables() const;     // of all devices, sorted
  std::map<std::string, std::size_t> sets_by_device() const;
  const std::vector<KernelFactorsFile>& files() const { return files_; }
  // What the chips have in common of a table; null when that is nothing.
  const FactorTexts* common(const std::string& table) const;

  // interval80_on_another_chip() of a set that was fitted on `from`.
  std::pair<double, double> interval80(const FactorSet& set, const std::string& from,
                                       const GpuDeviceSpec& device) const;

  // The first of `tables` that was fitted on the device; else on the nearest chip: of the same
  // generation first. On another chip the interval is interval80_on_another_chip(). UserError when
  // there are no factors.
  ChosenFactorSet choose(const GpuDeviceSpec& device, const std::vector<std::string>& tables) const;

  // Leaves what was fitted on a device out of account: its sets, and those of other devices that
  // share a number with it. What all chips have in common stays.
  void hold_out(const std::string& device);

 private:
  // Fills in what sets share with others, of this folder or of `other`.
  void resolve(const KernelFactorsLibrary* other);

  std::string kind_;
  std::vector<KernelFactorsFile> files_;
  KernelFactorsFile common_;
  std::vector<TransferInterval> transfers_;
};

}  // namespace foretell
