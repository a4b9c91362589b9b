#include "model/app/command/report/report_command.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "model/app/command/report/record_changes.hpp"
#include "model/app/command/report/report_batch.hpp"
#include "model/app/command/report/report_input.hpp"
#include "model/app/command/report/report_output.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/study/what_if/study_report.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/table_output.hpp"
#include "model/base/errors.hpp"

namespace foretell {
namespace {

struct ReportOptions {
  std::vector<std::string> inputs;
  OutputOptions output;
  std::string study;
  std::string title;
  std::string batch;
  std::string jobs;
  std::vector<std::string> tolerances;
};

constexpr const char* kDefaultBatchOutput = "reports";

// One result, or with `before` what changed from it.
ReportContent content_of(const ReportOptions& options, const Session& session) {
  ReportContent content =
      read_report(options.inputs.back(), parse_jobs(options.jobs), session, options.study);
  if (!options.title.empty()) content.title = options.title;
  return content;
}

// For a stored study: tables as `sweep` writes them.
std::optional<std::string> study_text_of(const ReportOptions& options, Format form, int width) {
  if (form == Format::kJson || form == Format::kHtml) return std::nullopt;
  return study_report(options.inputs.front(), options.study, form, width);
}

int report_one(const ReportOptions& options, const Session& session) {
  const std::string& output = options.output.output;
  const Format form = report_format(output, options.output.format);
  check_not_same_file(options.inputs.front(), output);
  if (const auto text = study_text_of(options, form, session.result_width)) {
    write_text(output, *text);
    return kSuccess;
  }
  OutputFile file(output);
  const ReportContent content = content_of(options, session);
  file.write(as_shown(output, rendered(content, form, session.result_width)));
  file.finish();
  if (output != "-") {
    const auto counted = [](std::size_t count, const std::string& one, const std::string& many) {
      return std::to_string(count) + " " + (count == 1 ? one : many);
    };
    std::string what = counted(content.records.size(), "record", "records");
    if (!content.accuracy.empty()) what = "a validation";
    if (content.predicted) what = counted(content.predicted->total, "row", "rows");
    if (!content.services.empty()) what = counted(content.services.size(), "service", "services");
    if (!content.problems.empty())
      what += ", " + counted(content.problems.size(), "reason", "reasons") + " for what is missing";
    session.say("foretell: " + what + " in " + output);
  }
  return kSuccess;
}

// A page shows the later result with what changed; every other form is the list of changes.
int report_two(const ReportOptions& options, const Session& session) {
  const std::string& output = options.output.output;
  const Format form = report_format(output, options.output.format);
  for (const std::string& input : options.inputs) check_not_same_file(input, output);
  OutputFile file(output);
  const auto differences =
      changes_between({options.inputs.front(), options.inputs.back(), options.tolerances});
  std::string text;
  if (form == Format::kHtml) {
    ReportContent content = content_of(options, session);
    content.compared_with = options.inputs.front();
    for (const RecordDifference& d : differences) {
      content.changes.push_back({d.record, d.field, d.expected, d.actual, d.relative});
    }
    text = rendered(content, form, session.result_width);
  } else if (form == Format::kMarkdown) {
    text = differences.empty() ? "No number moved.\n" : render_markdown(change_table(differences));
  } else if (form != Format::kTable || !differences.empty()) {
    text = table_text(change_table(differences), form, session.result_width);
  }
  if (!text.empty()) {
    file.write(as_shown(output, text));
    file.finish();
  }
  return change_result(differences, session);
}

int report(const ReportOptions& options, const Session& session) {
  if (!options.batch.empty()) {
    if (!options.inputs.empty()) throw UserError("--batch takes a folder and no other input");
    const std::string& output = options.output.output;
    return report_batch(options.batch, output == "-" ? kDefaultBatchOutput : output,
                        parse_jobs(options.jobs), session);
  }
  if (options.inputs.empty()) {
    throw UserError("nothing to report; name a file of records, a scenario, or --batch FOLDER");
  }
  if (options.inputs.size() > 2) {
    throw UserError("one result is reported, or two are compared; use --batch for more");
  }
  if (options.inputs.size() == 1 && !options.tolerances.empty()) {
    throw UserError("--tolerance needs two results to compare");
  }
  return options.inputs.size() == 2 ? report_two(options, session) : report_one(options, session);
}

}  // namespace

void add_report_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App* command = app.add_subcommand("report", "Show results as a page or a table");
  command->footer(
      "Examples:\n"
      "  foretell run … --store runs.sqlite && foretell report runs.sqlite -o runs.html\n"
      "  foretell run … --format json > runs.jsonl && foretell report runs.jsonl -o runs.md\n"
      "  foretell predict rows.csv -o rows.jsonl && foretell report rows.jsonl -o rows.html\n"
      "  foretell report reports/gallery/inf2-claims.yaml -o claims.html\n"
      "  foretell report before.sqlite after.sqlite --tolerance 1%   # exit code 1 when it moved\n"
      "  foretell report --batch reports/gallery -o gallery");
  command->add_option("results", options->inputs,
                      "store, JSON lines, result of `validate --format json`, rows that `predict` "
                      "wrote, or scenario; two of records are compared");
  add_format_option(*command, options->output);
  command->get_option("--output")
      ->description(
          "file to write: .html, .md, .csv or .jsonl (default: standard output); with --batch a "
          "folder");
  add_option(*command, "--study", options->study, "NAME",
             "a stored study by name (default: the newest, when there is nothing else)");
  add_option(*command, "--title", options->title, "TEXT", "heading of the page");
  add_option(*command, "--batch", options->batch, "FOLDER",
             "a page for every result and scenario of this folder, and an index");
  add_option(*command, "--jobs", options->jobs, "N",
             "processes for --batch and scenarios (default: one per processor)");
  add_repeated_option(*command, "--tolerance", options->tolerances, "TOLERANCE",
                      "of two results: P% for all fields or FIELD=P% for one; repeat for more");
  set_action(*command, session, [options, &session] { return report(*options, session); });
}

}  // namespace foretell
