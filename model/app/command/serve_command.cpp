#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "model/app/command/commands.hpp"
#include "model/app/command/report/report_output.hpp"
#include "model/app/command/service_result.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/serving/request/serve.hpp"
#include "model/app/serving/request/serve_keys.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/app/terminal/help_groups.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/app/terminal/service_options.hpp"
#include "model/app/workers/stop_signals.hpp"
#include "model/base/errors.hpp"
#include "reports/record/text_file.hpp"
#include "reports/render/energy_text.hpp"
#include "reports/render/html_report.hpp"
#include "reports/render/output_format.hpp"
#include "reports/render/service_text.hpp"

namespace foretell {
namespace {

constexpr std::size_t kTraceSlices = 20'000;
constexpr std::size_t kMaxLoads = 100;

struct ServeOptions {
  ServeRequest request;
  ServiceOptions service;
  RequestOptions machine;
  OutputOptions output;
  std::string trace_out;
  std::string report;
};

ServeRequest read_request(const ServeOptions& options, const ServiceOptions& service) {
  ServeRequest request = options.request;
  const Request& named = options.request.machine;
  request.machine = stated_request(options.machine);
  request.machine.system = named.system;
  request.machine.workload = named.workload;
  request.machine.dtype = named.dtype;
  for (const auto& [key, text] : service) set_serve_key(request, key, service_option(key), text);
  if (request.trace_every > 1 && request.trace.empty())
    throw UserError("--every: takes some of the requests of a --trace");
  if (request.measured && request.trace.empty())
    throw UserError("--measured: compares with the times of a --trace");
  check_energy_price(request.machine);
  if (!options.trace_out.empty()) request.slices = kTraceSlices;
  return request;
}

// One request for each value of a list of loads: --rate 1,2,4 or --concurrency 8,64.
std::vector<ServeRequest> read_requests(const ServeOptions& options) {
  const auto typed = [&options](const char* key) {
    const auto found = options.service.find(key);
    return found == options.service.end() ? std::string() : found->second;
  };
  const bool by_rate = typed("rate").find(',') != std::string::npos;
  if (by_rate && typed("concurrency").find(',') != std::string::npos)
    throw UserError("several loads: --rate R or --concurrency N may be a list, not both");
  std::vector<ServeRequest> requests;
  for (const std::string& load : listed_values(options.service, by_rate ? "rate" : "concurrency")) {
    ServiceOptions service = options.service;
    service[by_rate ? "rate" : "concurrency"] = load;
    requests.push_back(read_request(options, service));
  }
  // Mistakes are found before the first is simulated; names before what is said of them.
  check_names(requests.front().machine);
  for (const ServeRequest& request : requests) load_of(request);
  if (requests.size() == 1) return requests;
  if (requests.size() > kMaxLoads)
    throw UserError(fmt::format("{} loads; at most {}", requests.size(), kMaxLoads));
  if (!options.trace_out.empty())
    throw UserError("--trace-out: a timeline is of one load; leave the list out");
  if (options.output.format == "jsonl")
    throw UserError("--format jsonl: has a line per request of one load; take json for several");
  return requests;
}

std::string report_of(const std::vector<ServeRecord>& records, Format form) {
  ReportContent content;
  content.title = service_title(records);
  content.services = records;
  return rendered(content, form, 0);
}

// Loads one after the other on machines that they share, until one is interrupted.
std::vector<ServeOutcome> serve_all(const std::vector<ServeRequest>& requests,
                                    const Session& session) {
  std::vector<ServeOutcome> outcomes;
  Progress progress(session, "serving");
  MachinePool pool(session.predict);
  const auto all = static_cast<double>(requests.size());
  for (const ServeRequest& request : requests) {
    const auto done = static_cast<double>(outcomes.size());
    outcomes.push_back(serve(pool, request, [&](double share) {
      progress.update((done + share) / all);
      return StopSignals::received() == 0;
    }));
    if (outcomes.back().record.summary.interrupted) break;
  }
  return outcomes;
}

int run_serve(const ServeOptions& options, const Session& session) {
  const std::string& format = options.output.format;
  if (format != "jsonl") parse_format(format);
  const std::vector<ServeRequest> requests = read_requests(options);
  const std::string& trace = requests.front().trace;
  if (!trace.empty()) check_not_same_file(trace, options.output.output);
  OutputFile output(options.output.output);
  check_trace_file(options.trace_out);
  std::optional<Format> report_form;
  std::unique_ptr<OutputFile> report;
  if (!options.report.empty()) {
    report_form = format_of_file(options.report);
    if (*report_form == Format::kHtml) check_page();
    if (!trace.empty()) check_not_same_file(trace, options.report);
    check_not_same_file(options.output.output, options.report);
    report = std::make_unique<OutputFile>(options.report);
  }
  const StopSignals signals;
  const std::vector<ServeOutcome> outcomes = serve_all(requests, session);
  std::vector<ServeRecord> records;
  for (const ServeOutcome& outcome : outcomes) records.push_back(outcome.record);
  std::string text = format == "jsonl"
                         ? to_json_lines(records.front().requests)
                         : services_text_in(parse_format(format), records, session.result_width);
  if (format == "table" && options.output.energy)
    text += service_energies_text(records, session.result_width);
  output.write(format == "table" ? as_shown(options.output.output, text) : text);
  output.finish();
  if (report) {
    report->write(report_of(records, *report_form));
    report->finish();
  }
  if (!options.trace_out.empty()) {
    OutputFile timeline(options.trace_out);
    timeline.write(outcomes.front().trace_json);
    timeline.finish();
  }
  for (const ServeRecord& record : records) session.list_notes(record.context.notes);
  if (!records.back().summary.interrupted) return kSuccess;
  session.say("foretell: interrupted; the result is of what was simulated so far");
  return kOutsideTolerance;
}

}  // namespace

void add_serve_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<ServeOptions>();
  CLI::App* command = app.add_subcommand("serve", "Predict a service: requests over time");
  command->footer(
      "Examples:\n"
      "  foretell serve --on h100-sxm-x8 --tp 8 --workload Llama-3.1-70B --dtype fp8 "
      "--concurrency 64 --input-len 1024 --output-len 1024\n"
      "  foretell serve --on h100-sxm-x8 --tp 4 --dp 2 --workload Llama-3.1-70B --dtype fp8 --rate "
      "4 --input-len uniform:100..4000 --output-len 300 --slo 'ttft.p99<=1s,tpot.p99<=40ms'");
  ServeRequest& request = options->request;
  add_option(*command, "--on", request.machine.system, "SYSTEM", "system, for example h100-sxm-x8");
  add_option(*command, "workload,--workload", request.machine.workload, "NAME|FILE",
             "network by name, or a config.json");
  add_option(*command, "--dtype", request.machine.dtype, "TYPE",
             "data type or precision policy, bf16 when not stated");
  add_option(*command, "--input-len", request.input_len, "N",
             "tokens of a prompt: a number, uniform:A..B, histogram:FILE");
  add_option(*command, "--output-len", request.output_len, "N", "tokens of an answer, likewise");
  add_field_options(*command, options->machine, service_fields());
  add_seed_option(*command, options->machine.seed);
  add_service_options(*command, options->service, {"concurrency", "rate"}, {});
  command->add_flag("--measured", request.measured,
                    "compare with the times of the trace: JSON lines with queued_ts, scheduled_ts, "
                    "first_token_ts and last_token_ts");
  add_model_options(*command, options->machine);
  add_option(*command, "--trace-out", options->trace_out, "FILE",
             "write a timeline of steps and requests that opens in Perfetto to this file");
  add_option(*command, "--report", options->report, "FILE",
             "write a page (.html) or its tables (.md, .csv) to this file, too: the curve of "
             "the loads, distributions, what happened when");
  add_option(*command, "--format", options->output.format, "FORM",
             format_words() + "; jsonl: a line per request");
  add_energy_option(*command, options->output);
  add_option(*command, "-o,--output", options->output.output, "FILE",
             "file (default: standard output)");
  group_service_help(*command, "Deployment");
  set_action(*command, session, [options, &session] { return run_serve(*options, session); });
}

}  // namespace foretell
