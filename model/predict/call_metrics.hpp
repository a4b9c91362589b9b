// What came out of a call whose work runs one after another (grids and collectives of a GPU, loops
// of a CPU), as Metrics.
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
// FLOP, kernel, waves, occupancy). Every one begins when the one before has ended.
Metrics metrics_of_call(const Program& program, const Execution& execution,
                        std::vector<OperatorMetrics> operators);

}  // namespace foretell
