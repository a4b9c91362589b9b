#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <memory>

#include "model/app/command/commands.hpp"
#include "model/app/request/request_fields.hpp"
#include "model/app/serving/request/serve.hpp"
#include "model/app/serving/request/worker_machine.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/base/errors.hpp"
#include "reports/record/text_file.hpp"
#include "reports/render/serve_text.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxClients = 1'000'000;
constexpr std::int64_t kMaxRequests = 100'000'000;
constexpr std::int64_t kMaxStepTokens = 1 << 20;
constexpr std::int64_t kMaxCopies = 10'000;
constexpr double kMaxRate = 1e9;
constexpr std::size_t kTraceSlices = 20'000;

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
  std::string dp;
  std::string attention_dp;
  std::string seed;
};

struct ServeOptions {
  ServeRequest request;
  ServeNumbers numbers;
  RequestOptions model;
  OutputOptions output;
  std::string trace_out;
};

std::int64_t count_or_0(const char* name, const std::string& text, std::int64_t high) {
  return text.empty() ? 0 : parse_count(name, text, 1, high);
}

double share_or_0(const char* name, const std::string& text) {
  return text.empty() ? 0 : parse_positive(name, text, 1);
}

ServeRequest read_request(const ServeOptions& options) {
  ServeRequest request = options.request;
  const ServeNumbers& numbers = options.numbers;
  request.machine.set = options.model.set;
  request.machine.factors = options.model.factors;
  request.machine.exact = row_defaults(options.model).exact;
  request.concurrency = count_or_0("--concurrency", numbers.concurrency, kMaxClients);
  if (!numbers.rate.empty()) request.rate = parse_positive("--rate", numbers.rate, kMaxRate);
  if (!numbers.every.empty()) {
    if (request.trace.empty()) throw UserError("--every: takes some of the requests of a --trace");
    request.trace_every = parse_count("--every", numbers.every, 1, kMaxRequests);
  }
  request.offline = count_or_0("--offline", numbers.offline, kMaxRequests);
  request.requests = count_or_0("--requests", numbers.requests, kMaxRequests);
  if (!numbers.warm_up.empty())
    request.warm_up = parse_count("--warm-up", numbers.warm_up, 0, kMaxRequests);
  request.max_batch = count_or_0("--max-batch", numbers.max_batch, kMaxClients);
  request.max_tokens = count_or_0("--max-tokens", numbers.max_tokens, kMaxStepTokens);
  request.kv_fraction = share_or_0("--kv-fraction", numbers.kv_fraction);
  request.prefix_share = share_or_0("--prefix-cache", numbers.prefix_cache);
  request.machine.tp = static_cast<int>(count_or_0("--tp", numbers.tp, kMaxCopies));
  request.dp = static_cast<int>(count_or_0("--dp", numbers.dp, kMaxCopies));
  if (!numbers.attention_dp.empty()) {
    request.attention_dp =
        static_cast<int>(parse_count("--attention-dp", numbers.attention_dp, 1, kMaxCopies));
  }
  if (!numbers.seed.empty()) {
    request.machine.seed =
        static_cast<std::uint64_t>(parse_count("--seed", numbers.seed, 0, kMaxSeed));
  }
  if (!request.chunk.empty() && request.chunk != "off") {
    parse_count("--chunk", request.chunk, 1, kMaxStepTokens);
  }
  if (!options.trace_out.empty()) request.slices = kTraceSlices;
  return request;
}

std::string text_in(const std::string& format, const ServeRecord& record) {
  if (format == "json") return to_json(record) + "\n";
  if (format == "jsonl") return to_json_lines(record.requests);
  if (format == "csv") return to_csv_text(record);
  return serve_text(record);
}

int run_serve(const ServeOptions& options, const Session& session) {
  const std::string& format = options.output.format;
  const std::vector<std::string> formats = {"table", "json", "csv", "jsonl"};
  if (std::find(formats.begin(), formats.end(), format) == formats.end())
    throw unknown_name("format", format, formats);
  const ServeRequest request = read_request(options);
  if (!request.trace.empty()) check_not_same_file(request.trace, options.output.output);
  OutputFile output(options.output.output);
  check_trace_file(options.trace_out);
  const InterruptGuard guard;
  ServeOutcome outcome;
  {
    Progress progress(session, "serving");
    MachinePool pool(session.predict);
    outcome = serve(pool, request, [&progress](double share) {
      progress.update(share);
      return InterruptGuard::goes_on();
    });
  }
  const std::string text = text_in(format, outcome.record);
  output.write(format == "table" ? as_shown(options.output.output, text) : text);
  output.finish();
  if (!options.trace_out.empty()) {
    OutputFile trace(options.trace_out);
    trace.write(outcome.trace_json);
    trace.finish();
  }
  if (!outcome.record.summary.interrupted) return kSuccess;
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
      "closed loop: this many clients, each sends its next request when it has its answer", "N");
  add("--start", request.start,
      "of the clients: together, or staggered: each at the first token of the one before", "WORD");
  add("--rate", numbers.rate, "open loop: requests per second", "R");
  add("--arrivals", request.arrivals,
      "of --rate: poisson, uniform, gamma:CV or burst:N (default: poisson)", "WORD");
  add("--trace", request.trace,
      "CSV with arrival_s, input_len, output_len, or JSON lines with arrival_time, input_toks, "
      "output_toks",
      "FILE");
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
  add("--dp", numbers.dp, "copies, each a worker (default: 1)", "N");
  add("--attention-dp", numbers.attention_dp,
      "ranks of a worker that schedule apart and step together (default: 1)", "N");
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
  add_model_options(*command, options->model);
  command
      ->add_option("--trace-out", options->trace_out,
                   "write a timeline of steps and requests that opens in Perfetto to this file")
      ->type_name("FILE");
  command
      ->add_option("--format", options->output.format,
                   "table (default), json, csv, or jsonl: a line per request")
      ->type_name("FORM");
  command->add_option("-o,--output", options->output.output, "file (default: standard output)")
      ->type_name("FILE");
  command->callback([options, &session] {
    session.action = [options, &session] { return run_serve(*options, session); };
  });
}

}  // namespace foretell
