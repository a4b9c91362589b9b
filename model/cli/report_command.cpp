#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/cli/commands.hpp"
#include "model/cli/output.hpp"
#include "model/cli/record_input.hpp"
#include "model/cli/study_report.hpp"
#include "reports/record/wide_row.hpp"
#include "reports/render/html_report.hpp"
#include "reports/render/record_text.hpp"

namespace foretell {
namespace {

struct ReportOptions {
  std::string input;
  std::string study;
  std::string output = "-";
};

// The name of the output says what is written; standard output gets text.
std::string render(std::vector<RunRecord> records, const std::string& extension, int width) {
  if (extension.empty()) return comparison_text(compared(std::move(records)), kOnDemand, width);
  if (extension == ".html") return html_report({"", std::move(records), ""});
  if (extension == ".md") return comparison_markdown(compared(std::move(records)), kOnDemand);
  return wide_csv(records);
}

std::string checked_extension(const std::string& output) {
  if (output == "-") return "";
  const std::string extension = to_lower(std::filesystem::path(output).extension().string());
  if (extension == ".html" || extension == ".md" || extension == ".csv") return extension;
  throw UserError(output + ": the name has to end in .html, .md or .csv, which says what to write");
}

int report(const ReportOptions& options, const Session& session) {
  const std::string extension = checked_extension(options.output);
  if (const auto text =
          study_report(options.input, options.study, extension, session.result_width)) {
    check_not_same_file(options.input, options.output);
    write_text(options.output, *text);
    return kSuccess;
  }
  const std::vector<RunRecord> records = read_records(options.input);
  check_not_same_file(options.input, options.output);
  write_text(options.output, render(records, extension, session.result_width));
  if (!extension.empty()) {
    session.say("foretell: " + std::to_string(records.size()) + " records in " + options.output);
  }
  return kSuccess;
}

}  // namespace

void add_report_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Show stored records as a page or a table");
  command->footer(
      "Examples:\n"
      "  foretell run … --store runs.sqlite && foretell report runs.sqlite -o runs.html\n"
      "  foretell run … --format json > runs.jsonl && foretell report runs.jsonl -o runs.md\n"
      "  foretell sweep study.yaml --store s.sqlite && foretell report s.sqlite -o study.csv");
  command->add_option("records", options->input, "SQLite file or JSON lines")->required();
  command
      ->add_option("-o,--output", options->output,
                   "file to write: .html, .md or .csv (default: a table on standard output)")
      ->type_name("FILE");
  command
      ->add_option("--study", options->study,
                   "a stored study by name (default: the newest, when there is nothing else)")
      ->type_name("NAME");
  command->callback([options, &session] {
    session.action = [options, &session] { return report(*options, session); };
  });
}

}  // namespace foretell
