// What the work of a device costs in energy: published watts (hw/energy/<device>.yaml) and fitted
// energies per operation and byte (calib/factors/energy/<device>.yaml).
//
//   hw/energy/<device>.yaml:       active_idle_watts: {value: 128, source: …, kind: …}, …
//   calib/factors/energy/<device>.yaml (factor_file.hpp):
//     factors: {dram: {value: 92, interval80: [85, 99], unit: pJ/B}, …}
//
// What is not fitted is stated, mostly assumed, in `energies` of hw/energy: what GPUs were not
// measured at, and all of devices whose power is not published (constants of the process, a band in
// interval80, never calibrated).
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "calib/fitted/shared/die_area.hpp"
#include "hw/spec/gpu/gpu_spec.hpp"
#include "model/base/energy_per.hpp"
#include "model/base/energy_units.hpp"

namespace foretell {

// Apparent energies: of an operation with all that moves with it inside an SM, of a byte out of
// memory into L2, of one from L2 across the chip into an SM. At the full clock.
struct EnergyFactors {
  EnergyPerFlop matrix_32;  // on the matrix pipe, operands of 32 bits
  EnergyPerFlop matrix_16;  // … of 16 bits
  EnergyPerFlop matrix_8;   // … of 8 bits
  EnergyPerFlop matrix_4;   // … of 4 bits
  EnergyPerFlop vector;     // on lanes
  Picojoules exponential;   // of one of a softmax and the vector work around it
  EnergyPerByte dram;       // of device memory
  EnergyPerByte l2;         // between L2 and the SMs, of memory or not
  EnergyPerByte sram;       // in and out of SBUF and PSUM
  Watts busy;               // while kernels occupy the SMs, whatever they do
};

// One of them, as files and fits have it: a number in its unit.
struct EnergyFactor {
  const char* name;
  const char* unit;  // pJ/FLOP, pJ/B, pJ, W
  double (*number)(const EnergyFactors&);
  void (*set)(EnergyFactors&, double);
};
// All of them; in this order everywhere.
const std::vector<EnergyFactor>& energy_factors();

struct PowerFacts {
  Watts active_idle;       // clocks up, context live, no kernel
  double limit_share = 0;  // of the board's limit that is held under load
  EnergyPerByte link;
  double voltage_knee = 0;   // share of the full clock below which the voltage stays
  double voltage_floor = 0;  // voltage there, as a share of that at the full clock
  double lowest_clock = 0;   // share of the full clock
  // The share of active_idle that leaks through the chip at the full voltage; it falls with the
  // voltage v (a share of the full one) as v exp(leakage_growth (v - 1)).
  double leakage_share = 0;
  double leakage_growth = 0;
  double voltage_margin = 0;  // share of the voltage of a clock that can be taken from it
  double voltage_most = 1;    // that is supplied at most, as a share of that at the full clock

  // The voltage that a clock takes, both as shares of the full ones.
  double curve_voltage(double clock) const;
};

struct DeviceEnergy {
  std::set<std::string> calibrated;  // factors that this very device was measured for
  PowerFacts facts;
  EnergyFactors factors;
  std::string fitted_on;       // device that the factors are of
  bool is_calibrated = false;  // fitted on this very device
  double interval_low = 1;     // measured / predicted
  double interval_high = 1;
  // The same by kind of kernel and how it was measured ("gemm, random operands"), where kernels are
  // compared; none of a device that is not calibrated.
  std::map<std::string, std::pair<double, double>> intervals;
};

// Those of the device at the full clock that is published of it; energies of a device that none
// were fitted to are those of another (stated in hw/energy as `like`), by the processes, clocks and
// memories of both (hw/process), not calibrated, and the interval is as wide as hw/energy says.
// UserError with file:line for what is wrong in the files.
DeviceEnergy load_gpu_energy(const GpuDeviceSpec& device, const std::string& factors = "");

// The same of any device: facts are those of the first of `names` that hw/energy knows (the device
// itself, its cores or architecture, its family), factors those of `names.front()`. `limit`: of
// the board, for facts that are shares of it; 0: none is published. `changed`: the device is no
// longer as it was measured, so nothing of it is calibrated.
DeviceEnergy load_device_energy(const std::vector<std::string>& names, Watts limit,
                                const std::string& factors = "", bool changed = false);

// The same chip with a full clock that is this many times as high: at any clock in hertz it draws
// what it drew, so that energies and curve are those of another share of the full clock.
DeviceEnergy at_full_clock(DeviceEnergy energy, double ratio);

// The same chip in another process or with another memory: switched energies and leakage follow the
// process, the rest of what idles stays. Nothing of it counts as calibrated then.
DeviceEnergy changed_energy(DeviceEnergy energy, const EnergyChange& change);

}  // namespace foretell
