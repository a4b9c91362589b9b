// A program written by hand, replayed on one core, one GPU or the cores of a CPU of a system.
#pragma once

#include <string>
#include <vector>

#include "model/app/request/prediction.hpp"
#include "reports/record/run_record.hpp"

namespace foretell {

struct ProgramRequest {
  Request request;                      // system, overrides, factors, --sdk and the timeline
  std::string file;                     // see docs/programs.md
  std::vector<std::string> parameters;  // "seq=4096": replace those of the file
};

// One call of the program: instructions on one NeuronCore, grids on one GPU, loops on the cores of
// a CPU; the rest of the system stands idle, and the costs are those of the whole system for it.
// UserError for work that the system does not run, for a file, a program or a parameter that is
// wrong, and for a program that deadlocks.
RunRecord run_program(const ProgramRequest& asked);

}  // namespace foretell
