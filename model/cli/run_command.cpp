#include <CLI/CLI.hpp>
#include <memory>

#include "model/cli/commands.hpp"
#include "model/cli/output.hpp"
#include "model/cli/request_options.hpp"
#include "reports/render/record_text.hpp"

namespace foretell {
namespace {

struct RunOptions {
  RequestOptions request;
  OutputOptions output;
};

int run(const RunOptions& options, const Session& session) {
  const Request request = requests(options.request).front();
  RecordOutput output(options.output);
  const RunRecord record = session.predict(request);
  output.deliver({record}, run_text(record));
  return kSuccess;
}

}  // namespace

void add_run_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Predict one workload on one system");
  command->footer(
      "Example:\n"
      "  foretell run --on inf2.xlarge --workload bert-large-uncased --batch 8 --seq 128 "
      "--dtype bf16-matmul");
  add_request_options(*command, options->request, false);
  add_format_option(*command, options->output);
  add_store_option(*command, options->output);
  command->callback([options, &session] {
    session.action = [options, &session] { return run(*options, session); };
  });
}

}  // namespace foretell
