// A program written by hand, replayed on one core of a system.
#pragma once

#include <string>
#include <vector>

#include "reports/record/run_record.hpp"

namespace foretell {

struct ProgramRequest {
  std::string system;
  std::string file;                     // see docs/programs.md
  std::vector<std::string> parameters;  // "seq=4096": replace those of the file
  std::vector<std::string> set;
  std::string factors;
  std::string sdk;
  std::string trace_file;
};

// One call of the program on one core; the other cores stand idle, and the costs are those of the
// whole system for this one. The note says how much of the call is spent on the device. UserError
// for a system without NeuronCores, for a file, a program or a parameter that is wrong, and for a
// program that deadlocks.
RunRecord run_program(const ProgramRequest& request);

}  // namespace foretell
