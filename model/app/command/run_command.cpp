#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "model/app/command/commands.hpp"
#include "model/app/request/program_run.hpp"
#include "model/app/request/worker_pool.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/own_file.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/base/errors.hpp"
#include "reports/render/record_text.hpp"

namespace foretell {
namespace {

struct RunOptions {
  RequestOptions request;
  OutputOptions output;
  std::string program;
  std::vector<std::string> parameters;
};

ProgramRequest program_request(const RunOptions& options) {
  const RequestOptions& request = options.request;
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
  ProgramRequest asked{{}, options.program, options.parameters};
  asked.request.system = request.systems.front();
  asked.request.set = request.set;
  asked.request.factors = request.factors;
  if (has_sdk) asked.request.sdk = sdk->second.front();
  asked.request.trace_file = request.trace_file;
  return asked;
}

int run(const RunOptions& options, const Session& session) {
  if (!options.program.empty()) {
    const ProgramRequest request = program_request(options);
    check_own_file(request.request.trace_file, options.output);
    RecordOutput output(options.output);
    const RunRecord record = run_program(request);
    output.deliver({record}, run_text(record));
    return kSuccess;
  }
  if (!options.parameters.empty()) throw UserError("--parameter belongs to --program FILE");
  const Request request = requests(options.request).front();
  check_own_file(request.trace_file, options.output);
  RecordOutput output(options.output);
  Progress progress(session, "predicting");
  const RunRecord record =
      predict_in_parallel(session.predict, request, default_jobs(),
                          [&progress](double share) { progress.update(share); });
  output.deliver({record}, run_text(record));
  return kSuccess;
}

}  // namespace

void add_run_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Predict one workload on one system");
  command->footer(
      "Examples:\n"
      "  foretell run --on inf2.xlarge --workload bert-large-uncased --batch 8 --seq 128 "
      "--dtype bf16-matmul\n"
      "  foretell run --on trn1.2xlarge --program workloads/programs/mamba-v1.yaml --factors none "
      "--trace mamba.json");
  add_request_options(*command, options->request, false);
  command
      ->add_option("--program", options->program,
                   "replay this program, written by hand, instead of a workload")
      ->type_name("FILE");
  command
      ->add_option("--parameter", options->parameters,
                   "NAME=NUMBER: replace a parameter of the program; repeat for more")
      ->allow_extra_args(false)
      ->take_all()
      ->type_name("NAME=N");
  add_format_option(*command, options->output);
  add_store_option(*command, options->output);
  command->callback([options, &session] {
    session.action = [options, &session] { return run(*options, session); };
  });
}

}  // namespace foretell
