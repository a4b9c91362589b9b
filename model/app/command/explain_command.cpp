#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "model/app/command/commands.hpp"
#include "model/app/command/explain_output.hpp"
#include "model/app/command/program_options.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/request/request_fields.hpp"
#include "model/app/study/what_if/sensitivity.hpp"
#include "model/app/study/what_if/study_request.hpp"
#include "model/app/study/what_if/what_if.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/own_file.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/base/errors.hpp"
#include "reports/render/record_text.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxTop = 100'000;

struct ExplainOptions {
  RequestOptions request;
  OutputOptions output;
  std::string top = "15";
  std::string jobs;
  bool sensitivity = false;
  std::string target;
  ProgramOptions program;
};

// What is asked for, and who answers it: a program is replayed with the changes of each question.
std::pair<Request, Predictor> question(const ExplainOptions& options, const Session& session) {
  if (options.program.file.empty()) {
    check_no_parameters(options.program);
    return {requests(options.request).front(), session.predict};
  }
  const ProgramRequest asked = program_request(options.request, options.program);
  return {asked.request, [asked](const Request& request) {
            ProgramRequest changed = asked;
            changed.request = request;
            return run_program(changed);
          }};
}

std::vector<Sensitivity> find_sensitivity(const Session& session, const Predictor& predict,
                                          const Request& request, const RunRecord& record,
                                          int jobs) {
  Progress progress(session, "changing one parameter at a time");
  return sensitivities(predict, request, point_metrics(record.summary), jobs,
                       [&progress](double share) { progress.update(share); });
}

ReachedTarget find_way(const Session& session, const Predictor& predict, const Request& request,
                       const RunRecord& record, int jobs, const Target& target) {
  Progress progress(session, "looking for the target");
  return {target, changes_that_reach(predict, request, point_metrics(record.summary), target, jobs,
                                     [&progress](double share) { progress.update(share); })};
}

std::string text_of(const RunRecord& record, const Explanation& explanation, int top, int width) {
  std::string text = explain_text(record, top, width) +
                     "\nWhat would help: the same call with one part changed\n\n" +
                     render_text(what_if_table(explanation.improved), width) +
                     hidden_text(explanation.improved);
  if (explanation.sensitivity) {
    text +=
        "\nSensitivity: latency and throughput with one parameter changed, the rest as it is\n\n" +
        render_text(tornado_table(*explanation.sensitivity, static_cast<std::size_t>(top)), width);
  }
  if (explanation.reached) {
    text += target_text(explanation.reached->target, point_metrics(record.summary),
                        explanation.reached->changes, width);
  }
  return text;
}

// Rows are of one table: that which was asked for.
std::vector<CsvRow> rows_of(const RunRecord& record, const Explanation& explanation) {
  if (explanation.sensitivity) return sensitivity_rows(*explanation.sensitivity);
  if (explanation.reached) return target_rows(*explanation.reached);
  return explain_rows(record, explanation);
}

int explain(const ExplainOptions& options, const Session& session) {
  const int top = static_cast<int>(parse_count("--top", options.top, 1, kMaxTop));
  const int jobs = parse_jobs(options.jobs);
  const auto [request, predict] = question(options, session);
  std::optional<Target> target;
  if (!options.target.empty()) target = parse_target(options.target);
  check_own_file(options.request.trace_file, options.output);
  RecordOutput output(options.output);
  const bool holds_one_table = !is_prose(output.format()) && output.format() != Format::kJson;
  if (holds_one_table && options.sensitivity && target) {
    throw UserError(options.output.format +
                    " holds one table: --sensitivity or --target, or --format json for both");
  }
  const RunRecord record = predict(request);
  Explanation explanation;
  const bool is_one_table = holds_one_table && (options.sensitivity || target);
  if (!is_one_table) {
    explanation.improved = improved_calls(predict, request, record.summary.call_s, jobs);
  }
  if (options.sensitivity)
    explanation.sensitivity = find_sensitivity(session, predict, request, record, jobs);
  if (target) explanation.reached = find_way(session, predict, request, record, jobs, *target);
  std::string text;
  if (output.format() == Format::kTable) {
    text = text_of(record, explanation, top, session.result_width);
  } else if (output.format() == Format::kJson) {
    text = explain_json(record, explanation);
  } else {
    text = rows_text(rows_of(record, explanation), output.format());
  }
  output.deliver_text({record}, text);
  return kSuccess;
}

}  // namespace

void add_explain_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ExplainOptions>();
  CLI::App* command =
      app.add_subcommand("explain", "Show where the time of a prediction goes and what would help");
  command->footer(
      "Examples:\n"
      "  foretell explain --on inf2.xlarge --workload bert-base-uncased --seq 128 --dtype bf16\n"
      "  foretell explain --on inf2.xlarge --workload bert-base-uncased --sensitivity --target "
      "latency=2ms\n"
      "  foretell explain --on trn1.2xlarge --program workloads/programs/mamba-v1.yaml\n"
      "Busy: the share of a call that a resource works. Stalled: it has work and waits for "
      "another.");
  add_request_options(*command, options->request, false);
  add_program_options(*command, options->program);
  add_format_option(*command, options->output);
  add_store_option(*command, options->output);
  command->add_flag("--sensitivity", options->sensitivity,
                    "what 10 % less, 10 % more and twice of each hardware parameter do");
  command
      ->add_option("--target", options->target,
                   "METRIC=VALUE, such as tpot=20ms: the smallest single change that reaches it")
      ->type_name("METRIC=VALUE");
  command->add_option("--top", options->top, "operators to show (default: 15)")->type_name("N");
  command->add_option("--jobs", options->jobs, "processes (default: one per processor)")
      ->type_name("N");
  command->callback([options, &session] {
    session.action = [options, &session] { return explain(*options, session); };
  });
}

}  // namespace foretell
