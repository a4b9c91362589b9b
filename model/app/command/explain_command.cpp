#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "model/app/command/commands.hpp"
#include "model/app/command/explain_output.hpp"
#include "model/app/command/program_options.hpp"
#include "model/app/command/service_result.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/serving/request/serve.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/app/study/what_if/sensitivity.hpp"
#include "model/app/study/what_if/served_point.hpp"
#include "model/app/study/what_if/study_request.hpp"
#include "model/app/study/what_if/what_if.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/own_file.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/app/terminal/service_options.hpp"
#include "model/base/errors.hpp"
#include "reports/render/energy_text.hpp"
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
  ServiceOptions service;
};

// What is asked for, and who answers it: a program is replayed with the changes of each question, a
// service is served with them.
std::pair<Request, Predictor> question(const ExplainOptions& options, const Session& session) {
  if (options.program.file.empty()) {
    check_no_parameters(options.program);
    if (asks_for_service(options.service)) {
      Request request = service_requests(requests(options.request), options.service).front();
      check_names(request);
      return {std::move(request), with_services(session.predict)};
    }
    return {requests(options.request).front(), session.predict};
  }
  if (asks_for_service(options.service))
    throw UserError("--program: is no service; leave the load and what belongs to it out");
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

// What would help, and the answers to further questions.
std::string findings_of(const RunRecord& record, const Explanation& explanation, int top,
                        int width) {
  const char* time = !record.context.scenario.service.empty() ? "answer" : "call";
  std::string text = render_text(what_if_table(explanation.improved, time), width) +
                     hidden_text(explanation.improved, time);
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
  std::optional<ServeRecord> service;
  if (is_served(request)) {
    if (!options.output.store.empty()) throw UserError("--store: keeps no services; leave it out");
    if (!request.trace_file.empty()) {
      throw UserError(
          "--trace: is no timeline of a service; `foretell serve --trace-out` writes it");
    }
    MachinePool pool(session.predict);
    service = serve(pool, served_request(request)).record;
  }
  const RunRecord record = service ? served_record(request, *service) : predict(request);
  Explanation explanation;
  const bool is_one_table = holds_one_table && (options.sensitivity || target);
  if (!is_one_table) explanation.improved = improved_calls(predict, request, record.summary, jobs);
  if (options.sensitivity)
    explanation.sensitivity = find_sensitivity(session, predict, request, record, jobs);
  if (target) explanation.reached = find_way(session, predict, request, record, jobs, *target);
  std::string text;
  if (output.format() == Format::kTable) {
    const std::string findings = findings_of(record, explanation, top, session.result_width);
    const std::string energy = service && options.output.energy
                                   ? service_energies_text({*service}, session.result_width)
                                   : "";
    text = service ? explained_service_text(*service, findings) + energy
                   : explain_text(record, top, session.result_width) +
                         (options.output.energy ? energy_text(record) : "") +
                         "\nWhat would help: the same call with one part changed\n\n" + findings;
  } else if (output.format() == Format::kJson) {
    text = service ? explained_service_json(*service, record, explanation)
                   : explain_json(record, explanation);
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
      "  foretell explain --on h100-sxm-x8 --tp 8 --workload Llama-3.1-70B --dtype fp8 "
      "--input-len 1024 --output-len 256 --concurrency 64\n"
      "Busy: the share of a call that a resource works. Stalled: it has work and waits for "
      "another. With a load (--concurrency, --rate or --offline) a service is explained.");
  add_request_options(*command, options->request, false);
  add_program_options(*command, options->program);
  add_format_option(*command, options->output);
  add_store_option(*command, options->output);
  add_energy_option(*command, options->output);
  command->add_flag("--sensitivity", options->sensitivity,
                    "what 10 % less, 10 % more and twice of each hardware parameter do");
  add_option(*command, "--target", options->target, "METRIC=VALUE",
             "METRIC=VALUE, such as tpot=20ms: the smallest single change that reaches it");
  add_option(*command, "--top", options->top, "N", "operators to show (default: 15)");
  add_option(*command, "--jobs", options->jobs, "N", "processes (default: one per processor)");
  add_service_options(*command, options->service, {}, {"dp", "attention_dp", "trace", "every"});
  set_action(*command, session, [options, &session] { return explain(*options, session); });
}

}  // namespace foretell
