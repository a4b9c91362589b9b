// calib/factors/gpu/gemm/<device>.yaml: what matrix products reach on a device, one set of factors
// per kernel library and data type.
//
//   device: h100-sxm
//   split: how the rows were divided
//   tables:
//     - framework: trtllm
//       version: 1.3.0rc20
//       dtype: bf16
//       fitted_on: 2400 rows of 362 families
//       held_out: 4358 rows of 121 families, MAPE 4.5 %, median 3.4 %, p90 9.7 %
//       interval80: [0.95, 1.08]      # measured / predicted on the rows held out
//       factors: {mma_efficiency: 0.9, step: 160 cycles, …}
//       evidence: {…}                 # how sure: fit_evidence.hpp; not in every file
//     - framework: vllm
//       like: {device: h100-sxm, table: trtllm bf16}   # shared_factors.hpp
//       factors: {launch: 2.2 us}                      # its own, the rest is shared
//       …
// A factor that is not named does not apply.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "calib/fitted/gpu/gemm_factors.hpp"
#include "calib/fitted/gpu/shared_factors.hpp"
#include "calib/fitted/gpu/transfer_intervals.hpp"
#include "calib/fitted/shared/fit_evidence.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "hw/spec/shared/catalog.hpp"

namespace foretell {

struct GemmFactorSet {
  std::string framework;
  std::string version;
  std::string dtype;
  std::string fitted_on;
  std::string held_out;
  double interval_low = 1;  // measured / predicted
  double interval_high = 1;
  GemmFactors factors;   // of a library all; of a file what it states
  StatedFactors stated;  // what the file states, where the set is like another
  FitEvidence evidence;
  // Of a library: that the numbers were fitted on; empty until the set that it is like is there.
  std::set<std::string> fitted_devices;
};

// "trtllm bf16": how `like` names it.
std::string gemm_table(const GemmFactorSet& set);

struct GemmFactorsFile {
  std::string device;
  std::string id;  // "h100-sxm@<content hash>"
  std::string split;
  std::vector<GemmFactorSet> sets;
};

// All errors of the file in one UserError.
GemmFactorsFile parse_gemm_factors(const std::string& text, const std::string& shown_as);
// The text that parse_gemm_factors reads.
std::string gemm_factors_text(const GemmFactorsFile& file);
// Replaces the set of the same framework and type, or adds it.
void put_gemm_factors(GemmFactorsFile& file, GemmFactorSet set);

// The factors of a product, and where they are from.
struct ChosenGemmFactors {
  GemmFactorSet set;
  std::string note;  // "" when they were fitted on this device for this type
};

// All files of a folder.
class GemmFactorsLibrary {
 public:
  explicit GemmFactorsLibrary(const std::filesystem::path& folder);

  // Adds the sets of another folder whose device, framework and type are not known yet.
  void add_missing(const GemmFactorsLibrary& other);

  // What was fitted for the device, framework and type. What was not is taken from the nearest:
  // the same device and another type of the same pipe, then devices of the same generation, then
  // others. `framework` may be empty: that of networks, or
  // the first that there is. Taken from another
  // device, latencies stay cycles and rates bytes per cycle; the launch follows the floor of the
  // chip, the matrix pipe its reachable rate. UserError when there is nothing at all to take.
  ChosenGemmFactors choose(const GpuDeviceSpec& device, const std::string& framework,
                           const std::string& dtype) const;

  std::map<std::string, std::size_t> sets_by_device() const;

  // Of all sets, one name per set.
  std::vector<std::string> frameworks() const;

  // Leaves what was fitted on a device out of account, to judge how well it is done without: its
  // sets, and those of other devices that share a number with it.
  void hold_out(const std::string& device);

  // Of just this device and gemm_table(), with all its factors; null when there is none.
  const GemmFactorSet* find_table(const std::string& device, const std::string& table) const;

 private:
  const GemmFactorSet* find(const std::string& device, const std::string& framework,
                            const std::string& dtype) const;
  // Fills in what sets share with others, of this folder or of `other`.
  void resolve(const GemmFactorsLibrary* other);

  std::vector<GemmFactorsFile> files_;
  std::vector<TransferInterval> transfers_;
};

// The folder of the factors of matrix products.
std::filesystem::path gemm_factors_folder();

}  // namespace foretell
