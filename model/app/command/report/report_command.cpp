#include "model/app/command/report/report_command.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "model/app/command/report/record_changes.hpp"
#include "model/app/command/report/report_input.hpp"
#include "model/app/command/report/report_output.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/study/what_if/study_report.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/session.hpp"
#include "model/app/workers/worker_pool.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/render/html_report.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;
using Document = nlohmann::json;

const std::set<std::string>& endings() {
  static const std::set<std::string> kEndings = {".yaml", ".yml", ".sqlite", ".jsonl", ".json"};
  return kEndings;
}

std::vector<fs::path> inputs_of(const std::string& folder) {
  std::error_code error;
  std::vector<fs::path> inputs;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    const std::string ending = to_lower(entry.path().extension().string());
    if (entry.is_regular_file() && endings().count(ending) > 0) inputs.push_back(entry.path());
  }
  if (error) throw UserError(folder + ": " + error.message());
  if (inputs.empty()) {
    throw UserError(folder +
                    ": nothing to report; expected files that end in .yaml, .sqlite, "
                    ".jsonl or .json");
  }
  std::sort(inputs.begin(), inputs.end());
  return inputs;
}

// "a.jsonl" becomes "a.html", or "a.jsonl.html" beside an "a.yaml".
std::vector<std::string> page_names(const std::vector<fs::path>& inputs) {
  std::multiset<std::string> stems;
  for (const fs::path& input : inputs) stems.insert(input.stem().string());
  std::vector<std::string> names;
  for (const fs::path& input : inputs) {
    const std::string stem = input.stem().string();
    const bool alone = stems.count(stem) == 1 && stem != "index";
    names.push_back((alone ? stem : input.filename().string()) + ".html");
  }
  return names;
}

std::string claims_text(const std::vector<JudgedClaim>& claims) {
  if (claims.empty()) return "";
  const auto supported = std::count_if(claims.begin(), claims.end(), [](const JudgedClaim& judged) {
    return judged.judgement.verdict == kSupported;
  });
  return std::to_string(supported) + " of " + std::to_string(claims.size()) + " supported";
}

std::string problems_text(std::size_t count) {
  return std::to_string(count) + (count == 1 ? " reason" : " reasons") + " why some are missing";
}

// A page that is there is whole, also after a run that was killed.
void write_whole(const fs::path& path, const std::string& text) {
  const fs::path part = path.string() + ".part";
  write_text(part.string(), text);
  std::error_code error;
  fs::rename(part, path, error);
  if (error) throw UserError(path.string() + ": " + error.message());
}

// Writes one page, and the same as Markdown; what the index says of it, as JSON.
std::string write_page(const fs::path& input, const fs::path& output, const Session& session) {
  Document entry = {{"title", input.filename().string()},
                    {"file", ""},
                    {"records", 0},
                    {"claims", ""},
                    {"problem", ""}};
  try {
    const ReportContent content = read_report(input.string(), 1, session);
    write_whole(output, html_report(content));
    fs::path beside = output;
    write_whole(beside.replace_extension(".md"), rendered(content, Format::kMarkdown, 0));
    entry["title"] = content.title;
    entry["file"] = output.filename().string();
    entry["records"] = content.records.size();
    entry["claims"] = claims_text(content.claims);
    if (!content.problems.empty()) {
      entry["problem"] = content.records.empty() ? "not predicted: " + content.problems.front()
                                                 : problems_text(content.problems.size());
    }
  } catch (const UserError& error) {
    entry["problem"] = error.what();
  }
  return entry.dump(-1, ' ', false, Document::error_handler_t::replace);
}

IndexEntry entry_of(const TaskOutcome& outcome, const fs::path& input) {
  IndexEntry entry;
  entry.title = input.filename().string();
  if (!outcome.finished) {
    entry.problem = outcome.text;
    return entry;
  }
  const Document json = Document::parse(outcome.text);
  entry.title = json.at("title").get<std::string>();
  entry.file = json.at("file").get<std::string>();
  entry.records = json.at("records").get<std::size_t>();
  entry.claims = json.at("claims").get<std::string>();
  entry.problem = json.at("problem").get<std::string>();
  return entry;
}

// Writes a page for every *.yaml, *.yml, *.sqlite, *.jsonl and *.json of `input` into `output`,
// which is made when it is not there, in `jobs` processes, and index.html. A file without a report
// is listed with its reason and makes the exit code 1. UserError when there is nothing to report.
int report_batch(const std::string& input, const std::string& output, int jobs,
                 const Session& session) {
  const std::vector<fs::path> inputs = inputs_of(input);
  check_page();
  const std::vector<std::string> names = page_names(inputs);
  std::error_code error;
  fs::create_directories(output, error);
  if (error) throw UserError(output + ": cannot be made: " + error.message());
  const std::string index = (fs::path(output) / "index.html").string();
  OutputFile file(index);
  ReportContent content;
  content.title = "Reports";
  {
    Progress progress(session, "reporting");
    Session quiet = session;
    quiet.quiet = true;  // one bar is enough
    const auto task = [&](std::size_t i) {
      return write_page(inputs[i], fs::path(output) / names[i], quiet);
    };
    const auto outcomes = run_forked(inputs.size(), jobs, task, [&](std::size_t done) {
      progress.update(static_cast<double>(done) / static_cast<double>(inputs.size()));
    });
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      content.index.push_back(entry_of(outcomes[i], inputs[i]));
    }
  }
  file.write(html_report(content));
  file.finish();
  std::size_t failed = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!content.index[i].file.empty()) continue;
    ++failed;
    session.say("foretell: no report of " + inputs[i].string() + ": " + content.index[i].problem);
  }
  session.say("foretell: " + std::to_string(inputs.size() - failed) + " reports, " + index);
  return failed == 0 ? kSuccess : kOutsideTolerance;
}

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
