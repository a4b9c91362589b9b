#include <CLI/CLI.hpp>
#include <memory>

#include "model/app/command/commands.hpp"
#include "model/app/command/report/record_changes.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/table_output.hpp"

namespace foretell {
namespace {

struct DiffOptions {
  ChangeOptions changes;
  OutputOptions output;
};

int diff(const DiffOptions& options, const Session& session) {
  const Format format = parse_format(options.output.format);
  const auto differences = changes_between(options.changes);
  if (format != Format::kTable || !differences.empty()) {
    write_table(change_table(differences), options.output, session.result_width);
  }
  return change_result(differences, session);
}

}  // namespace

void add_diff_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand("diff", "Compare two sets of records within tolerances");
  command->footer(
      "Exit code 1 when a number moved by more than its tolerance, or a run is on one side only.\n"
      "Example:\n"
      "  foretell diff before.sqlite after.sqlite --tolerance 0.1% --tolerance latency_s=1%");
  command->add_option("expected", options->changes.expected, "SQLite file or JSON lines")
      ->required();
  command->add_option("actual", options->changes.actual, "SQLite file or JSON lines")->required();
  add_repeated_option(*command, "--tolerance", options->changes.tolerances, "TOLERANCE",
                      "P% for all fields or FIELD=P% for one; repeat for more (default: 0%)");
  add_format_option(*command, options->output);
  set_action(*command, session, [options, &session] { return diff(*options, session); });
}

}  // namespace foretell
