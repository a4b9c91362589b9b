// The one format of calib/factors, whatever the device: tables of fitted numbers, and how sure each
// of them is.
//
//   device: h100-sxm                   # "common": what all devices share
//   split: how the rows were divided
//   machine: {architecture: zen4, …}   # that was measured, where the device is a name for it
//   tables:                            # of GPUs one for each table of measured kernels
//     - table: trtllm context bf16 bf16
//       version: 1.3.0rc20
//       provenance: NVIDIA H200, driver 580.65, measured by …, 2026-01-31
//       prior: factors of trtllm bf16 on h200-sxm
//       fitted_on: 2000 rows of 62 families, 11 free factors
//       held_out: 3000 rows of 24 families, MAPE 4.5 %, median 3.4 %, p90 9.7 %
//       interval80: [0.95, 1.08]       # measured / predicted
//       intervals: {softmax: [0.9, 1.1]}   # the same by kind of row
//       correlation: 1                 # of the errors of two operators of a network
//       like: {device: h100-sxm, table: trtllm context fp8 fp8}   # shared_factors.hpp
//       common: true
//       usual: [l2_share]              # factors whose value is the usual one of the kind
//       factors:
//         launch: {value: 10 us, interval80: [9 us, 11 us]}
//         l2_share: {value: 0.5, interval80: [0.2, 0.9], identified: no}   # the prior stands
//         array: {value: 0.28, unit: mm2, why: what this number alone rests on}
//         sdk_engine_time: {"2.9": {value: 1.15}}
//       trade_offs: ["step and prologue: -0.91"]
//       interval_from: 87 rows of families held out
//       starts: 3, loss 3085.3 3129.2
//       residuals: ["up to 16 rows, fitted on: n 120, MAPE 4.1 %"]
//
// A factor that is not named does not apply. Cycles are of the full clock, B/cycle of one SM.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/config/document.hpp"
#include "model/config/fields.hpp"

namespace foretell {

inline constexpr const char* kCommonDevice = "common";  // of what all devices share
inline constexpr const char* kUsualTable = "usual";     // its table of what is usual of a kind

using FactorTexts = std::vector<std::pair<std::string, std::string>>;  // name, value with unit

struct FactorParent {
  std::string device;
  std::string table;
  std::vector<std::string> without;
};

// What a set states, and where the rest is from.
struct StatedFactors {
  FactorTexts own;
  std::optional<FactorParent> like;
  bool has_common = false;
  std::vector<std::string> usual = {};  // factors that have the usual value of the kind
};

struct FactorInterval {
  std::string factor;
  std::string low;  // with unit
  std::string high;
  bool is_identified = true;  // by the rows; else the prior stands
};

struct FitEvidence {
  std::string provenance;
  std::string prior;
  std::vector<FactorInterval> interval80;
  std::vector<std::string> trade_offs;
  std::string interval_from;  // what the 80 % interval of predictions was made from
  std::string starts;         // of the search, and what they reached
  std::vector<std::string> residuals;
};

// What one factor has beside value and interval.
struct FactorRemark {
  std::string why;
  std::string unit;  // of a number in a unit that values are not written with (pJ/B, mm2)
};

// What is known of a set of factors beside their values.
struct FactorSet {
  std::string table;
  std::string version;
  std::string fitted_on;
  std::string held_out;
  double interval_low = 0;  // measured / predicted; 0: not stated
  double interval_high = 0;
  std::map<std::string, std::pair<double, double>> intervals;  // the same by kind of row
  std::optional<double> correlation;
  StatedFactors stated;  // what the file states, where the set is like another
  FitEvidence evidence;
  std::map<std::string, FactorRemark> remarks;  // by factor
  // A library's: where the numbers were fitted on; empty until the set that it is like is there.
  std::set<std::string> fitted_devices;
};

struct FactorTable : FactorSet {
  FactorTexts factors;  // of a file what it states; resolved: all

  // Does it state all of its factors itself?
  bool is_whole() const { return !stated.like && !stated.has_common && stated.usual.empty(); }
};

struct FactorFile {
  std::string device;
  std::string split;
  std::map<std::string, std::string> machine;
  std::vector<FactorTable> tables;
};

// What the readers of a kind of device ask for.
struct FactorRules {
  std::vector<std::string> required;  // keys of a table, but for the common device
  FieldList* fields = nullptr;        // that there are, which take the values; null: any
  bool needs_all = false;             // of `fields`
};

// All errors of the file in one UserError, with file and line.
FactorFile parse_factor_file(const std::string& text, const std::string& shown_as,
                             const FactorRules& rules = {});
// The same of a kind with one table per device. UserError when there are more.
FactorFile parse_factor_table(const std::string& text, const std::string& shown_as,
                              const FactorRules& rules);
// The text that parse_factor_file reads.
std::string factor_file_text(const FactorFile& file);

void add_factor(FactorTable& table, const std::string& value, FactorInterval interval,
                FactorRemark remark = {});
// Replaces the table of the same name, or adds it.
void put_factor_table(FactorFile& file, FactorTable table);
// "0.88 .. 0.96" by factor.
std::map<std::string, std::string> interval_texts(const FitEvidence& evidence);
// "step and prologue: -0.91"
std::string trade_off_text(const std::string& first, const std::string& second, double correlation);

// [low, high] of ratios measured / predicted. UserError with file and line.
std::pair<double, double> read_interval80(const Node& node);

}  // namespace foretell
