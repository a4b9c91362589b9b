// What a device draws over the time of a call, for its timeline.
#pragma once

#include <vector>

#include "model/base/metrics.hpp"
#include "model/components/shared/execution.hpp"
#include "model/program/program.hpp"
#include "model/system/kernel_trace.hpp"
#include "model/system/trace.hpp"
#include "model/timing/shared/energy_timing.hpp"

namespace foretell {

// Fills `power` and `idle_power` of kernels or loops: each draws the mean of its operator above
// `idle`, from the end of its launch. Where the operators of a window together would draw more than
// `most` (of the whole device; 0: no limit), all of them draw less in proportion: a limit holds for
// the mean of a window, not for single kernels.
void set_kernel_power(const Metrics& metrics, const DeviceEnergy& energy, Watts idle, Watts most,
                      std::vector<KernelRun>& kernels);

// Joules of every instruction, transfer and collective of a program of NeuronCores, over its time.
// Their sum is the energy of the operators of the call without what idle devices draw, as long as
// every entry belongs to an operator.
TracePower entry_power(const Program& program, const Execution& execution,
                       const DeviceEnergy& energy);

}  // namespace foretell
