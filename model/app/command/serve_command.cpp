#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <memory>
#include <optional>
#include <set>
#include <tuple>

#include "model/app/command/commands.hpp"
#include "model/app/command/report/report_output.hpp"
#include "model/app/request/request_fields.hpp"
#include "model/app/serving/request/serve.hpp"
#include "model/app/serving/request/serve_keys.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/record/text_file.hpp"
#include "reports/render/output_format.hpp"
#include "reports/render/serve_text.hpp"
#include "reports/render/service_text.hpp"

namespace foretell {
namespace {

constexpr double kMaxUsd = 100;
constexpr double kMaxPue = 10;
constexpr std::size_t kTraceSlices = 20'000;
constexpr std::int64_t kMaxContext = 100'000'000;
constexpr std::size_t kMaxLoads = 100;

volatile std::sig_atomic_t interrupted_by_user = 0;

void note_interruption(int /*signal*/) { interrupted_by_user = 1; }

// Ctrl-C ends the simulation, not the program; a second one ends the program.
class InterruptGuard {
 public:
  InterruptGuard() {
    interrupted_by_user = 0;
    struct sigaction action = {};
    action.sa_handler = note_interruption;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(SIGINT, &action, &before_);
  }
  ~InterruptGuard() { sigaction(SIGINT, &before_, nullptr); }
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  static bool goes_on() { return interrupted_by_user == 0; }

 private:
  struct sigaction before_ = {};
};

// The options of this command that are numbers, as typed.
struct ServeNumbers {
  std::string concurrency;
  std::string rate;
  std::string every;
  std::string offline;
  std::string requests;
  std::string warm_up;
  std::string max_batch;
  std::string max_tokens;
  std::string kv_fraction;
  std::string prefix_cache;
  std::string tp;
  std::string pp;
  std::string dp;
  std::string attention_dp;
  std::string ep;
  std::string moe_tp;
  std::string context;
  std::string seed;
  std::string usd_per_kwh;
  std::string pue;
};

struct ServeOptions {
  ServeRequest request;
  ServeNumbers numbers;
  RequestOptions model;
  OutputOptions output;
  std::string trace_out;
  std::string report;
};

ServeRequest read_request(const ServeOptions& options, const ServeNumbers& numbers) {
  ServeRequest request = options.request;
  request.machine.set = options.model.set;
  request.machine.factors = options.model.factors;
  request.machine.exact = row_defaults(options.model).exact;
  if (!numbers.every.empty() && request.trace.empty())
    throw UserError("--every: takes some of the requests of a --trace");
  if (request.measured && request.trace.empty())
    throw UserError("--measured: compares with the times of a --trace");
  const std::tuple<const char*, const char*, const std::string*> keys[] = {
      {"concurrency", "--concurrency", &numbers.concurrency},
      {"rate", "--rate", &numbers.rate},
      {"every", "--every", &numbers.every},
      {"offline", "--offline", &numbers.offline},
      {"requests", "--requests", &numbers.requests},
      {"warm_up", "--warm-up", &numbers.warm_up},
      {"max_batch", "--max-batch", &numbers.max_batch},
      {"max_tokens", "--max-tokens", &numbers.max_tokens},
      {"kv_fraction", "--kv-fraction", &numbers.kv_fraction},
      {"prefix_cache", "--prefix-cache", &numbers.prefix_cache},
      {"chunk", "--chunk", &options.request.chunk},
      {"dp", "--dp", &numbers.dp},
      {"attention_dp", "--attention-dp", &numbers.attention_dp}};
  for (const auto& [key, name, text] : keys) set_serve_key(request, key, name, *text);
  if (!numbers.tp.empty())
    request.machine.tp = static_cast<int>(parse_count("--tp", numbers.tp, 1, kMaxWays));
  if (!numbers.pp.empty())
    request.machine.pp = static_cast<int>(parse_count("--pp", numbers.pp, 1, kMaxWays));
  if (!numbers.ep.empty())
    request.machine.ep = static_cast<int>(parse_count("--ep", numbers.ep, 1, kMaxWays));
  if (!numbers.moe_tp.empty())
    request.machine.moe_tp = static_cast<int>(parse_count("--moe-tp", numbers.moe_tp, 1, kMaxWays));
  if (!numbers.context.empty())
    request.machine.context = parse_count("--context", numbers.context, 2, kMaxContext);
  if (!numbers.seed.empty()) {
    request.machine.seed =
        static_cast<std::uint64_t>(parse_count("--seed", numbers.seed, 0, kMaxSeed));
  }
  if (!numbers.usd_per_kwh.empty())
    request.machine.usd_per_kwh = parse_positive("--usd-per-kwh", numbers.usd_per_kwh, kMaxUsd);
  if (!numbers.pue.empty()) {
    if (numbers.usd_per_kwh.empty())
      throw UserError("--pue: multiplies the cost of energy; state --usd-per-kwh too");
    request.machine.pue = parse_positive("--pue", numbers.pue, kMaxPue);
    if (request.machine.pue < 1)
      throw UserError("--pue: is 1 or more: a building adds to its load");
  }
  if (!options.trace_out.empty()) request.slices = kTraceSlices;
  return request;
}

// One request for each value of a list of loads: --rate 1,2,4 or --concurrency 8,64.
std::vector<ServeRequest> read_requests(const ServeOptions& options) {
  const ServeNumbers& given = options.numbers;
  if (given.rate.find(',') != std::string::npos &&
      given.concurrency.find(',') != std::string::npos) {
    throw UserError("several loads: --rate R or --concurrency N may be a list, not both");
  }
  std::vector<ServeRequest> requests;
  std::set<std::string> known;
  const bool by_rate = given.rate.find(',') != std::string::npos;
  for (const std::string& value : split(by_rate ? given.rate : given.concurrency, ',')) {
    ServeNumbers numbers = given;
    const std::string load(trim(value));
    (by_rate ? numbers.rate : numbers.concurrency) = load;
    if (load.empty() && given.concurrency.find(',') != std::string::npos)
      throw UserError("--concurrency " + given.concurrency + ": a load is missing in the list");
    if (load.empty() && by_rate)
      throw UserError("--rate " + given.rate + ": a load is missing in the list");
    if (!known.insert(load).second) {
      throw UserError(
          fmt::format("{}: {} stands twice", by_rate ? "--rate" : "--concurrency", load));
    }
    requests.push_back(read_request(options, numbers));
    load_of(requests.back());  // a mistake is found before the first is simulated
  }
  if (requests.size() == 1) return requests;
  if (requests.size() > kMaxLoads)
    throw UserError(fmt::format("{} loads; at most {}", requests.size(), kMaxLoads));
  if (!options.trace_out.empty())
    throw UserError("--trace-out: a timeline is of one load; leave the list out");
  if (options.output.format == "jsonl")
    throw UserError("--format jsonl: has a line per request of one load; take json for several");
  return requests;
}

std::string text_in(const std::string& format, const std::vector<ServeRecord>& records, int width) {
  if (format == "jsonl") return to_json_lines(records.front().requests);
  if (format == "csv") return rows_text(serve_rows(records), Format::kCsv);
  if (format == "md") return services_markdown(service_title(records), records);
  if (format == "json") {
    std::string lines;
    for (const ServeRecord& record : records) lines += to_json(record) + "\n";
    return lines;
  }
  return records.size() == 1 ? serve_text(records.front()) : services_text(records, width);
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
      return InterruptGuard::goes_on();
    }));
    if (outcomes.back().record.summary.interrupted) break;
  }
  return outcomes;
}

int run_serve(const ServeOptions& options, const Session& session) {
  const std::string& format = options.output.format;
  const std::vector<std::string> formats = {"table", "json", "csv", "jsonl", "md"};
  if (std::find(formats.begin(), formats.end(), format) == formats.end())
    throw unknown_name("format", format, formats);
  const std::vector<ServeRequest> requests = read_requests(options);
  const std::string& trace = requests.front().trace;
  if (!trace.empty()) check_not_same_file(trace, options.output.output);
  OutputFile output(options.output.output);
  check_trace_file(options.trace_out);
  std::optional<Format> report_form;
  std::unique_ptr<OutputFile> report;
  if (!options.report.empty()) {
    report_form = format_of_file(options.report);
    if (!trace.empty()) check_not_same_file(trace, options.report);
    check_not_same_file(options.output.output, options.report);
    report = std::make_unique<OutputFile>(options.report);
  }
  const InterruptGuard guard;
  const std::vector<ServeOutcome> outcomes = serve_all(requests, session);
  std::vector<ServeRecord> records;
  for (const ServeOutcome& outcome : outcomes) records.push_back(outcome.record);
  const std::string text = text_in(format, records, session.result_width);
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
  if (!records.back().summary.interrupted) return kSuccess;
  session.say("foretell: interrupted; the result is of what was simulated so far");
  return kOutsideTolerance;
}

void add_load_options(CLI::App& command, ServeOptions& options) {
  ServeRequest& request = options.request;
  ServeNumbers& numbers = options.numbers;
  const auto add = [&command](const char* name, std::string& text, const char* help,
                              const char* type) {
    command.add_option(name, text, help)->type_name(type);
  };
  add("--concurrency", numbers.concurrency,
      "closed loop: this many clients, each sends its next request when it has its answer; or "
      "several loads, as in 1,8,64",
      "N[,N…]");
  add("--start", request.start,
      "of the clients: together, or staggered: each at the first token of the one before", "WORD");
  add("--rate", numbers.rate, "open loop: requests per second; or several, as in 1,2,4", "R[,R…]");
  add("--arrivals", request.arrivals,
      "of --rate: poisson, uniform, gamma:CV or burst:N (default: poisson)", "WORD");
  add("--trace", request.trace,
      "CSV with arrival_s, input_len, output_len, or JSON lines with arrival_time, input_toks, "
      "output_toks",
      "FILE");
  command.add_flag("--measured", request.measured,
                   "compare with the times of the trace: JSON lines with queued_ts, scheduled_ts, "
                   "first_token_ts and last_token_ts");
  add("--every", numbers.every,
      "of the trace the first of every N requests: the share of one of N machines", "N");
  add("--offline", numbers.offline, "this many requests, all at once", "N");
  add("--input-len", request.input_len,
      "tokens of a prompt: a number, uniform:A..B, histogram:FILE", "N");
  add("--output-len", request.output_len, "tokens of an answer, likewise", "N");
  add("--requests", numbers.requests,
      "requests in all (default: 10 per client, 1000 of a rate, all of a trace)", "N");
  add("--warm-up", numbers.warm_up, "this many of the first count in no statistic (default: 0)",
      "N");
  add("--seed", numbers.seed, "seed of everything random (default: 0)", "N");
}

void add_engine_options(CLI::App& command, ServeOptions& options) {
  ServeRequest& request = options.request;
  ServeNumbers& numbers = options.numbers;
  const auto add = [&command](const char* name, std::string& text, const char* help,
                              const char* type) {
    command.add_option(name, text, help)->type_name(type);
  };
  add("--engine", request.engine,
      "serving engine of hw/engines by name, NAME@RELEASE, or a file "
      "like those there (default: hw/engines/choice)",
      "NAME[@RELEASE]");
  add("--max-batch", numbers.max_batch, "most sequences at one time (default: the engine's)", "N");
  add("--max-tokens", numbers.max_tokens, "most tokens in a step (default: the engine's)", "N");
  add("--kv-fraction", numbers.kv_fraction, "share of the memory for the engine or its KV blocks",
      "SHARE");
  add("--chunk", request.chunk, "tokens of a step that prompts are cut to, or 'off'", "N|off");
  add("--prefix-cache", numbers.prefix_cache, "share of every prompt that is found in the cache",
      "SHARE");
  add("--speculate", request.speculate,
      "guesses per step and how many are right, as in 3,acceptance=0.7", "N,acceptance=P");
  add("--tp", numbers.tp, "devices that share one copy (default: 1)", "N");
  add("--pp", numbers.pp,
      "of GPUs: stages of consecutive layers of a copy, --tp devices each, with as many batches in "
      "flight (default: 1)",
      "N");
  add("--dp", numbers.dp, "copies, each a worker (default: 1)", "N");
  add("--attention-dp", numbers.attention_dp,
      "groups of --tp devices of a worker that schedule apart, step together and share its experts "
      "(default: 1)",
      "N");
  add("--ep", numbers.ep, "groups of devices of a worker that each hold some of the experts", "N");
  add("--moe-tp", numbers.moe_tp, "devices that share each expert (default: the rest of a worker)",
      "N");
  add("--context", numbers.context,
      "of NeuronCores and CPUs: longest context that is compiled for (default: the network's)",
      "N");
  command.add_flag("--sequence-parallel", request.machine.sequence_parallel,
                   "of NeuronCores: the cores of --tp share the tokens of norms and residuals of a "
                   "prompt, too");
  add("--experts", request.machine.experts,
      "how tokens choose experts: random, balanced, power-law:A, or a file with one load per line "
      "(default: random)",
      "ROUTING");
  add("--library", request.machine.library,
      "of GPUs: whose kernels the network runs, by its file in hw/kernels (default: what "
      "hw/kernels/choice.yaml says)",
      "LIBRARY");
  add("--library-release", request.machine.library_release,
      "of GPUs: release of --library (default: the newest)", "VERSION");
  add("--router", request.router,
      "between workers: round-robin, least-loaded or prefix-aware (default: round-robin)", "WORD");
  add("--prefill", request.prefill, "separate workers for prompts, as in 'tp=4,workers=2'",
      "SPLIT");
  add("--decode", request.decode, "separate workers for answers, as in 'tp=8,workers=1'", "SPLIT");
  add("--decode-on", request.decode_system, "system of these (default: that of --on)", "SYSTEM");
  add("--link", request.link_rate,
      "rate at which KV caches move, as in '50 GB/s' (default: the links of the system)", "RATE");
  add("--slo", request.slo, "promises, as in 'ttft.p99<=1s,tpot.p99<=40ms'", "PROMISES");
}

void add_energy_options(CLI::App& command, ServeOptions& options) {
  Request& machine = options.request.machine;
  const auto add = [&command](const char* name, std::string& text, const char* help,
                              const char* type) {
    command.add_option(name, text, help)->type_name(type);
  };
  add("--power-limit", machine.power_limit, "of a GPU board, as in 500W (default: its own)", "W");
  add("--clock", machine.clock, "of a GPU: burst (default), sustained, or as in 1500MHz", "CLOCK");
  add("--usd-per-kwh", options.numbers.usd_per_kwh, "price of energy", "USD");
  add("--pue", options.numbers.pue, "what the building adds: watts of it per watt at the wall",
      "X");
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
  command->add_option("--on", request.machine.system, "system, for example h100-sxm-x8")
      ->type_name("SYSTEM");
  command->add_option("--workload", request.machine.workload, "network by name, or a config.json")
      ->type_name("NAME|FILE");
  command
      ->add_option("--dtype", request.machine.dtype,
                   "data type or precision policy, bf16 when not stated")
      ->type_name("TYPE");
  command->add_option("--kv-dtype", request.machine.kv_dtype, "type of the KV cache")
      ->type_name("TYPE");
  add_load_options(*command, *options);
  add_engine_options(*command, *options);
  add_energy_options(*command, *options);
  add_model_options(*command, options->model);
  command
      ->add_option("--trace-out", options->trace_out,
                   "write a timeline of steps and requests that opens in Perfetto to this file")
      ->type_name("FILE");
  command
      ->add_option("--report", options->report,
                   "write a page (.html) or its tables (.md, .csv) to this file, too: the curve of "
                   "the loads, distributions, what happened when")
      ->type_name("FILE");
  command
      ->add_option("--format", options->output.format,
                   "table (default), json, csv, md, or jsonl: a line per request")
      ->type_name("FORM");
  command->add_option("-o,--output", options->output.output, "file (default: standard output)")
      ->type_name("FILE");
  command->callback([options, &session] {
    session.action = [options, &session] { return run_serve(*options, session); };
  });
}

}  // namespace foretell
