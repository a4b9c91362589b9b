// What kernels reach of a CPU's facts: few numbers, each with a physical meaning, fitted on
// measurements of a machine (calib/factors/cpu/<device>.yaml).
//
// Costs are cycles and shares, so that they carry over to a CPU that was not measured; only what
// scales with nothing is in seconds.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "calib/fitted/shared/common_factors.hpp"
#include "calib/fitted/shared/factors_folder.hpp"
#include "hw/spec/cpu/cpu_catalog.hpp"
#include "hw/spec/cpu/cpu_spec.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "model/config/fields.hpp"

namespace foretell {

struct CpuFactors {
  // Shares of the peak in the inner loop, by type.
  std::map<std::string, double> product_efficiency;
  std::map<std::string, double> convolution_efficiency;
  Cycles tile;               // start and end of one register block of a product
  double tile_store = 0;     // cycles per vector register of results that leave a matrix unit
  double l2_efficiency = 1;  // of the bandwidth of each cache
  double l3_efficiency = 1;
  double l3_hold = 1;          // share of the third cache in which data are found again
  double dram_efficiency = 1;  // of the peak of the channels, all cores together
  double core_dram = 1;        // bytes per cycle that one core draws from memory
  double stages_ahead = 0;     // loads in flight, ahead of what a core computes on
  Seconds call;                // of a primitive, before its loop
  Seconds cold_call;           // more when code, page tables and operands have left the caches
  double fork_join = 1;        // times the published fork and join
  // Cycles per vector register of fp32 values:
  double copy = 1;
  std::map<std::string, double> convert;  // to the type
  double add = 1;
  double gelu = 1;
  double softmax = 1;
  double norm = 1;
  double reduce = 1;
  double pack = 1;      // of operands that a product lays out anew
  double strided = 0;   // of operands and results whose rows lie apart, as heads of attention do
  double widen = 0;     // of results of a product in eight bits that are stored as fp32
  double residual = 1;  // of sums with a residual and bias at the end of a product
  double split = 0;     // more of what takes longer on several threads: see the field
  double narrow = 1;    // of values in less than four bytes, in addition to the above
  // Cycles per row of "softmax", "norm", "reduce"; "norm_tail": more of a norm whose columns fill
  // no whole register.
  std::map<std::string, double> row;
  CommonFactors common = common_factors();  // what all devices share
};

void fields(FieldList& list, CpuFactors& factors);

// What is left without any fitted number: full rates, and the least work per value.
CpuFactors ideal_cpu_factors();

// How far measurements lie from predictions, of rows that took no part in the fit that predicted
// them.
struct CpuIntervals {
  // measured / predicted by class of operator ("product fp32", "softmax"): 80 % lay between.
  std::map<std::string, std::pair<double, double>> by_class;
  double correlation = 1;  // of the errors of two operators of a chain
};

struct ChosenCpuFactors {
  CpuFactors factors;
  std::string id = "none";  // "epyc-9r14@<content hash>"
  std::string note;         // "" when fitted on this CPU
  CpuIntervals intervals;   // empty without a fit
  Hertz clock;              // of this CPU while it was measured; 0: not known, or another CPU
  std::vector<Parameter> parameters;
};

// `which`: "" is the file of the device in calib/factors/cpu, or of its nearest neighbour; "none":
// published facts alone; a folder like calib/factors, which counts where it has files of CPUs; else
// a file. `set` are overrides, "factors.call=1 us". UserError for what cannot be read or set.
ChosenCpuFactors choose_cpu_factors(const CpuDeviceSpec& device, const std::string& which,
                                    const std::vector<std::string>& set = {},
                                    const std::filesystem::path& folder = factors_folder());

// An assumed clock of vector code gives way to the one at which this CPU was measured, as a machine
// that hides its clock is known by nothing else.
void use_measured_clock(const ChosenCpuFactors& chosen, LoadedCpuSystem& system);

// Takes a CPU of the user's that was not measured for the one that it is like: under the id of that
// one it has its energies. What a result says of it; "" for nothing.
std::string take_for_measured(const ChosenCpuFactors& chosen, LoadedCpuSystem& system);

// The factors of the CPU that is most like the device, of those with another `id` in their file; id
// "none" when there is none.
ChosenCpuFactors neighbour_cpu_factors(const CpuDeviceSpec& device, const std::string& id,
                                       const std::filesystem::path& folder = factors_folder());

}  // namespace foretell
