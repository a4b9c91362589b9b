#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "model/cli/commands.hpp"
#include "model/cli/output.hpp"
#include "model/cli/record_input.hpp"
#include "model/cli/table_output.hpp"
#include "reports/compare/record_diff.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

struct DiffOptions {
  std::string expected;
  std::string actual;
  std::vector<std::string> tolerances;
  OutputOptions output;
};

Table difference_table(const std::vector<RecordDifference>& differences) {
  Table table;
  table.columns = {{"record"},
                   {"field"},
                   {"expected", Align::kRight},
                   {"actual", Align::kRight},
                   {"change", Align::kRight}};
  for (const RecordDifference& difference : differences) {
    const bool moved = std::abs(difference.relative) > 0;
    table.rows.push_back({difference.record, difference.field, difference.expected,
                          difference.actual,
                          moved ? percent_format(difference.relative, true) : ""});
  }
  return table;
}

int diff(const DiffOptions& options, const Session& session) {
  const Format format = parse_format(options.output.format);
  Tolerances tolerances;
  for (const std::string& text : options.tolerances) add_tolerance(text, tolerances);
  const auto differences =
      diff_records(read_records(options.expected), read_records(options.actual), tolerances);
  if (format != Format::kTable || !differences.empty()) {
    write_table(difference_table(differences), options.output, session.result_width);
  }
  if (differences.empty()) session.say("foretell: no number moved");
  return differences.empty() ? kSuccess : kOutsideTolerance;
}

}  // namespace

void add_diff_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<DiffOptions>();
  CLI::App* command = app.add_subcommand("diff", "Compare two sets of records within tolerances");
  command->footer(
      "Exit code 1 when a number moved by more than its tolerance, or a run is on one side only.\n"
      "Example:\n"
      "  foretell diff before.sqlite after.sqlite --tolerance 0.1% --tolerance latency_s=1%");
  command->add_option("expected", options->expected, "SQLite file or JSON lines")->required();
  command->add_option("actual", options->actual, "SQLite file or JSON lines")->required();
  command
      ->add_option("--tolerance", options->tolerances,
                   "P% for all fields or FIELD=P% for one; repeat for more (default: 0%)")
      ->allow_extra_args(false)
      ->take_all()
      ->type_name("TOLERANCE");
  add_format_option(*command, options->output);
  command->callback([options, &session] {
    session.action = [options, &session] { return diff(*options, session); };
  });
}

}  // namespace foretell
