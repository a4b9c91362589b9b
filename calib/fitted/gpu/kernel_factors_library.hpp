// calib/factors/gpu/<kind>/<device>.yaml for kinds of kernels that have one set of factors per
// table of measurements (factor_file.hpp), and common.yaml of the kind for what a table has on
// every chip.
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
#include "calib/fitted/shared/factor_file.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/config/fields.hpp"

namespace foretell {

// As parse_factor_file(). `fields`: the factors that there are; null: any.
FactorFile parse_kernel_factors(const std::string& text, const std::string& shown_as,
                                FieldList* fields = nullptr);

// Zero, or the least that a field may hold: factors that do not apply.
void clear_fields(const FieldList& fields);
// Factors of `fields` that the set names; the others do not apply, as in fits. UserError for names
// and values that are not allowed.
void read_factor_set(const FactorTable& set, FieldList& fields);
// Those of `fields` that are not zero, with four digits.
FactorTexts factor_texts(const FieldList& fields);

struct ChosenFactorSet {
  FactorTable set;
  std::string device;  // that it was fitted on
};

// The folder of a kind of kernels: "gemm", "attention", "collective", "operator", "experts", ….
std::filesystem::path kernel_factors_folder(const std::string& kind);

// All files of a folder, with transfer.yaml beside it. UserError for factors that kernels of its
// kind do not have.
class KernelFactorsLibrary {
 public:
  explicit KernelFactorsLibrary(const std::filesystem::path& folder);

  // Adds the sets of another folder of the kind whose device and table are not known yet.
  void add_missing(const KernelFactorsLibrary& other);

  // The set that was fitted on just this device to just this table, with all its factors; null when
  // there is none.
  const FactorTable* find(const std::string& device, const std::string& table) const;

  bool knows(const std::string& table) const;  // of any device
  std::vector<std::string> tables() const;     // of all devices, sorted
  std::map<std::string, std::size_t> sets_by_device() const;
  const std::vector<FactorFile>& files() const { return files_; }
  // What the chips have in common of a table; null when that is nothing.
  const FactorTexts* common(const std::string& table) const;

  // Of a set that was fitted on `from`: its own on that device, interval80_on_another_chip() on
  // others. On a device that was changed both ratios squared, and at least those of another chip.
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
  std::vector<FactorFile> files_;
  FactorFile common_;
  std::vector<TransferInterval> transfers_;
};

}  // namespace foretell
