// What a program was made of, by its operators, whatever machine ran it.
#pragma once

#include <vector>

#include "model/base/metrics.hpp"
#include "model/components/shared/execution.hpp"
#include "model/program/program.hpp"

namespace foretell {

// A row per operator that did something, in the order of the program: from its first entry to the
// end of its last, the stream that worked longest for it, the bytes of device memory that it moved,
// and what it adds most of to the critical path ("" where it is not on it).
std::vector<OperatorMetrics> operators_of(const Program& program,
                                          const ProgramExecution& execution);

}  // namespace foretell
