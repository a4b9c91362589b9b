#include <CLI/CLI.hpp>
#include <memory>

#include "model/app/api/run_request.hpp"
#include "model/app/command/commands.hpp"
#include "model/app/command/program_options.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/own_file.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "reports/render/energy_text.hpp"
#include "reports/render/record_text.hpp"

namespace foretell {
namespace {

struct RunOptions {
  RequestOptions request;
  OutputOptions output;
  ProgramOptions program;
};

int run(const RunOptions& options, const Session& session) {
  if (!options.program.file.empty()) {
    const ProgramRequest request = program_request(options.request, options.program);
    check_own_file(request.request.trace_file, options.output);
    RecordOutput output(options.output);
    const RunRecord record = run_program(request);
    output.deliver({record}, run_text(record) + (options.output.energy ? energy_text(record) : ""));
    return kSuccess;
  }
  check_no_parameters(options.program);
  check_own_file(options.request.trace_file, options.output);
  RecordOutput output(options.output);
  Progress progress(session, "predicting");
  const api::Record record = api::run_request(
      options.request, session.predict, [&progress](double share) { progress.update(share); });
  output.deliver({record.whole()}, run_text(record.whole()) +
                                       (options.output.energy ? energy_text(record.whole()) : ""));
  session.list_notes(record.whole().context.notes);
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
  add_program_options(*command, options->program);
  add_format_option(*command, options->output);
  add_store_option(*command, options->output);
  add_energy_option(*command, options->output);
  set_action(*command, session, [options, &session] { return run(*options, session); });
}

}  // namespace foretell
