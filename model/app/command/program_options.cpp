#include "model/app/command/program_options.hpp"

#include "model/app/terminal/options.hpp"
#include "model/base/errors.hpp"

namespace foretell {

ProgramRequest program_request(const RequestOptions& request, const ProgramOptions& program) {
  if (!request.workloads.empty() || !request.dtypes.empty()) {
    throw UserError(
        "--program and --workload exclude each other: a program says itself what it computes in "
        "which data type; leave --workload and --dtype out");
  }
  if (!stated_fields(request, {"sdk", "exact"}).empty()) {
    throw UserError(
        "--program: is one call on one core, with the sizes that it states; leave out --batch, "
        "lengths and whatever else describes a network, and give sizes with --parameter "
        "NAME=NUMBER");
  }
  if (request.systems.empty()) {
    throw UserError("no system; name one with --on, see `foretell list systems`");
  }
  check_trace_file(request.trace_file);
  const auto sdk = request.values.find("sdk");
  const bool has_sdk = sdk != request.values.end() && !sdk->second.empty();
  ProgramRequest asked{{}, program.file, program.parameters};
  asked.request.system = request.systems.front();
  asked.request.set = request.set;
  asked.request.factors = request.factors;
  if (has_sdk) asked.request.sdk = sdk->second.front();
  asked.request.trace_file = request.trace_file;
  return asked;
}

void check_no_parameters(const ProgramOptions& program) {
  if (!program.parameters.empty()) throw UserError("--parameter belongs to --program FILE");
}

void add_program_options(CLI::App& command, ProgramOptions& options) {
  add_option(command, "--program", options.file, "FILE",
             "replay this program, written by hand, instead of a workload");
  add_repeated_option(command, "--parameter", options.parameters, "NAME=N",
                      "NAME=NUMBER: replace a parameter of the program; repeat for more");
}

}  // namespace foretell
