// `foretell calibrate fit` for a CPU, from measurements of it.
#pragma once

#include <string>

#include "model/app/terminal/session.hpp"

namespace foretell {

class FitOutput;

// Raw text of the options; "" takes the default.
struct CpuFitCommand {
  std::string device;        // "host", or a system with a CPU
  std::string measurements;  // records, a line of JSON each
  std::string output;        // folder of factors
  std::string starts;
  std::string seed;
  FitOutput* output_lines = nullptr;  // what is said; required
};

// Fits the factors to a part of the shapes, judges them on the others, and writes
// <output>/cpu/<device of the records>.yaml.
int calibrate_cpu(const CpuFitCommand& command, const Session& session);

}  // namespace foretell
