// The modules of the toy, and its machine.
#pragma once

#include "model/components/shared/execution.hpp"
#include "model/program/program.hpp"
#include "model/testing/toy_npu/spec/toy_spec.hpp"

namespace foretell {

// What its queues take: instructions of any length.
ProgramLimits toy_limits(const ToyNpuSpec& spec);

// UserError for streams that it does not run, and for a program that deadlocks.
Execution simulate_toy(const ToyNpuSpec& spec, const Program& program);

}  // namespace foretell
