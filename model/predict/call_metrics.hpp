// What came out of a call of a GPU (grids and collectives) or a CPU (loops), as Metrics.
#pragma once

#include <string>
#include <vector>

#include "model/base/metrics.hpp"
#include "model/components/shared/execution.hpp"
#include "model/program/program.hpp"
#include "model/system/kernel_trace.hpp"

namespace foretell {

// Entries that are work of the device, in the order in which they ran.
std::vector<EntryRef> work_in_order(const Program& program, const ProgramExecution& execution);

// The same as what a timeline shows. `reads` is empty.
std::vector<KernelRun> kernel_runs(const Program& program, const ProgramExecution& execution);

// Operators with their times, what bounds them and what they moved; resources; the bottleneck.
// `operators`: of the program, in its order, with the facts that mapping knows (name, kind, engine,
// FLOP, kernel, waves, occupancy). One after another they take all of the call's time: an operator
// of a stream beside others has the part of its time in which none before it ran.
Metrics metrics_of_call(const Program& program, const Execution& execution,
                        std::vector<OperatorMetrics> operators);

}  // namespace foretell
