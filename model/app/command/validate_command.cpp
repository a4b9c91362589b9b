#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <filesystem>
#include <foretell/version.hpp>
#include <memory>

#include "calib/validate/part.hpp"
#include "model/app/command/commands.hpp"
#include "model/app/command/kernel_options.hpp"
#include "model/app/command/table_accuracy.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/app/workers/stop_signals.hpp"
#include "model/base/errors.hpp"
#include "model/base/measured_data.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxWorst = 1'000'000;
constexpr std::int64_t kMaxEvery = 1'000'000;
constexpr double kMaxPercent = 1e6;

struct ValidateOptions {
  AccuracyQuestion question;
  OutputOptions output;
  bool all = false;
  bool vault = false;
  std::string worst = "10";
  std::string every;
  std::string max_mape;
  std::string max_p90;
  std::string max_bias;
  std::string jobs;
};

void check_limits(const ValidateOptions& options) {
  const auto check = [](const char* option, const std::string& limit) {
    if (!limit.empty()) parse_positive(option, limit, kMaxPercent);
  };
  check("--max-mape", options.max_mape);
  check("--max-p90", options.max_p90);
  check("--max-bias", options.max_bias);
}

// "call_ms: MAPE 12.0 % is above 7.5 %" for every limit that is broken.
std::vector<std::string> broken_limits(const ValidateOptions& options,
                                       const AccuracyReport& report) {
  std::vector<std::string> broken;
  const auto check = [&](const char* option, const std::string& limit, const char* name,
                         const AccuracyRow& row, double value) {
    if (limit.empty()) return;
    const double percent = parse_positive(option, limit, kMaxPercent);
    if (value * 100 > percent) {
      broken.push_back(
          fmt::format("{}: {} {:.2f} % is above {} %", row.quantity, name, value * 100, percent));
    }
  };
  for (const AccuracyRow& row : report.overall) {
    check("--max-mape", options.max_mape, "MAPE", row, row.accuracy.mape);
    check("--max-p90", options.max_p90, "p90", row, row.accuracy.p90);
    check("--max-bias", options.max_bias, "absolute bias", row, std::abs(row.accuracy.bias));
  }
  return broken;
}

std::string render(const AccuracyReport& report, Format format, int width) {
  if (format == Format::kTable) return accuracy_text(report, width);
  if (format == Format::kJson) return accuracy_json(report);
  if (format == Format::kMarkdown) return accuracy_markdown(report);
  return rows_text(accuracy_rows(report), format);
}

// An opening of the vault is said and written down, in the source tree: it is to be committed.
void open_vault(const std::string& table, const Session& session) {
  const std::string log =
      (std::filesystem::path(kSourceDir) / "calib" / "validate" / "vault_openings.csv").string();
  log_vault_opening(log, std::string(kCommit), std::filesystem::path(table).filename().string());
  session.say("foretell: the vault is opened for " + table + "; written down in " + log);
}

void open_part(AccuracyQuestion& question, bool vault, const Session& session) {
  if (vault && !question.part.empty()) {
    throw UserError("--vault: is --part vault; leave one of them out");
  }
  question.vault = vault;
  if (vault && question.table.empty()) {
    open_vault(question.classes.empty() ? "all tables" : join(question.classes, "; "), session);
    return;
  }
  if (vault) question.part = part_name(Part::kVault);
  if (question.part.empty()) return;
  if (question.table.empty()) {
    throw UserError("--part: is of one table; leave it out with --all");
  }
  if (question.held_out) throw UserError("--part: says which rows count; leave out --held-out");
  if (parse_part(question.part) == Part::kVault) open_vault(question.table, session);
}

int validate(const ValidateOptions& options, const Session& session) {
  const Format format = parse_format(options.output.format);
  AccuracyQuestion question = options.question;
  question.jobs = parse_jobs(options.jobs);
  question.worst = static_cast<std::size_t>(parse_count("--worst", options.worst, 0, kMaxWorst));
  if (!options.every.empty()) {
    question.every = parse_count("--every", options.every, 1, kMaxEvery);
  }
  check_limits(options);
  if (!options.all && !question.classes.empty()) {
    throw UserError("--class: is of --all; a table has --where");
  }
  if (options.all && (question.energy || !stated_fields(question.model, {"exact"}).empty())) {
    throw UserError("--energy and --power-limit: are of one table; leave them out with --all");
  }
  if (question.table.empty() != options.all) {
    throw UserError(options.all ? "give a table or --all, not both"
                                : "give a table, or --all for one report of all measurements that "
                                  "the project has");
  }
  if (!options.all) check_not_same_file(question.table, options.output.output);
  open_part(question, options.vault, session);
  OutputFile output(options.output.output);
  const StopSignals signals;
  const AccuracyReport report =
      options.all ? accuracy_of_project(question, session) : accuracy_of_table(question, session);
  const std::string text = render(report, format, session.result_width);
  output.write(format == Format::kTable ? as_shown(options.output.output, text) : text);
  output.finish();
  if (format != Format::kTable && format != Format::kJson) {  // which have no place for them
    for (const std::string& note : report.notes) session.say("foretell: " + note);
  } else if (report.interrupted) {
    session.say("foretell: " + report.notes.front());
  }
  const std::vector<std::string> broken = broken_limits(options, report);
  for (const std::string& limit : broken) session.say("foretell: outside tolerance: " + limit);
  // Some rows of the project's tables are of what is not described: their notes say so.
  const bool all_count = options.all || (report.failed == 0 && report.refused == 0);
  return broken.empty() && all_count && !report.interrupted ? kSuccess : kOutsideTolerance;
}

}  // namespace

void add_validate_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ValidateOptions>();
  CLI::App* command =
      app.add_subcommand("validate", "Compare predictions with a table of measurements");
  command->footer(
      "Rows count when their column 'use' says yes, if there is one (--all-rows: all of them).\n"
      "Examples:\n"
      "  foretell validate measured.csv --where system=inf2.xlarge --where family=encoder --latest "
      "--by workload\n"
      "  foretell validate measured.csv --max-mape 7.5 --max-p90 15 --max-bias 4\n"
      "  foretell validate measurements.jsonl --held-out --by class\n"
      "  foretell validate --all\n"
      "  foretell validate --all --class 'networks*' --every 1");
  command
      ->add_option("table", options->question.table,
                   "CSV with measured columns, or records of a CPU (calibrate measure); a bare "
                   "name that is not here is sought in the folder FORETELL_DATA")
      ->transform(measured_table);
  command->add_flag("--all", options->all,
                    "one table of all measurements of the project by class: the tables in the "
                    "folder FORETELL_DATA (default: shared/data beside the project) and its own");
  add_repeated_option(*command, "--class", options->question.classes, "NAME",
                      "with --all: classes of these names; * stands for any text");
  add_option(*command, "--every", options->every, "N",
             "each N-th of the rows of a group counts, from the first (default: all; with "
             "--all as calib/validate/report_classes.yaml says of the class)");
  add_repeated_option(*command, "--by", options->question.by, "COLUMN",
                      "columns to group by, with commas between")
      ->delimiter(',');
  add_repeated_option(
      *command, "--where", options->question.where, "CONDITION",
      "COLUMN=VALUE[,VALUE][,COLUMN=VALUE]: rows with one of these values in each column");
  command->add_flag("--latest", options->question.latest, "the same as --where latest=1");
  command->add_flag("--held-out", options->question.held_out,
                    "GPU kernels and CPUs: only shape families that no factor was fitted to");
  add_option(*command, "--part", options->question.part, "PART",
             "rows of groups (networks, shapes, configurations) of this part: fit, judge or "
             "vault (default: all; all but the vault of tables in FORETELL_DATA)");
  command->add_flag("--vault", options->vault,
                    "the same as --part vault: rows that nothing was fitted to or chosen on; every "
                    "opening is written down in calib/validate/vault_openings.csv");
  add_option(*command, "--on", options->question.system, "SYSTEM",
             "records of a CPU: the system that was measured (default: host)");
  command->add_flag("--all-rows", options->question.all_rows, "also rows whose 'use' is not yes");
  add_option(*command, "--worst", options->worst, "N",
             "rows with the largest error to list (default: 10)");
  add_option(*command, "--max-mape", options->max_mape, "PERCENT",
             "exit code 1 when MAPE is above, in percent");
  add_option(*command, "--max-p90", options->max_p90, "PERCENT",
             "the same for the 90th percentile");
  add_option(*command, "--max-bias", options->max_bias, "PERCENT",
             "the same for the absolute bias");
  add_option(*command, "--jobs", options->jobs, "N", "processes (default: one per processor)");
  add_format_option(*command, options->output);
  command->add_flag("--energy", options->question.energy,
                    "tables of models and of services: the measured columns watts, wall_watts, "
                    "joules_per_token and joules_per_request count, too");
  add_field_options(*command, options->question.model, {"power-limit"});
  add_model_options(*command, options->question.model);
  add_kernel_options(*command, options->question.kernels);
  set_action(*command, session, [options, &session] { return validate(*options, session); });
}

}  // namespace foretell
