// --program of `run` and `explain`.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "model/app/request/program_run.hpp"
#include "model/app/terminal/request_options.hpp"

namespace foretell {

struct ProgramOptions {
  std::string file;  // "": a workload
  std::vector<std::string> parameters;
};

void add_program_options(CLI::App& command, ProgramOptions& options);

// UserError for options that say something of a network.
ProgramRequest program_request(const RequestOptions& request, const ProgramOptions& program);
// UserError for --parameter without a program.
void check_no_parameters(const ProgramOptions& program);

}  // namespace foretell
