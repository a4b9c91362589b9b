#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <foretell/version.hpp>
#include <memory>
#include <set>

#include "model/app/command/commands.hpp"
#include "model/app/plan/plan.hpp"
#include "model/app/plan/plan_store.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/request/request_fields.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/app/terminal/stop_signals.hpp"
#include "model/app/workers/worker_group.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/text.hpp"
#include "reports/record/text_file.hpp"
#include "reports/render/plan_text.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxUsers = 1'000'000;
constexpr std::int64_t kMaxPlanned = 100'000'000;
constexpr double kMostRate = 1e6;
constexpr int kPlanPatienceMs = 200;

// Answers of the forked workers begin with what they are.
constexpr char kPlanned = 'P';
constexpr char kWrong = 'W';  // a UserError
constexpr char kBug = 'B';

struct PlanNumbers {
  std::string rate;
  std::string concurrency;
  std::string requests;
  std::string max_batch;
  std::string max_tokens;
  std::string prefix_cache;
  std::string probability;
  std::string seed;
};

struct PlanOptions {
  PlanRequest request;
  PlanNumbers numbers;
  RequestOptions model;
  std::string systems;
  std::string dtypes;
  std::string engines;
  std::string libraries;
  std::string jobs;
  std::string store;
  OutputOptions output;
};

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& part : split(text, ',')) {
    if (!trim(part).empty()) names.emplace_back(trim(part));
  }
  return names;
}

PlanRequest read_plan_request(const PlanOptions& options) {
  PlanRequest request = options.request;
  const PlanNumbers& numbers = options.numbers;
  ServeRequest& service = request.service;
  service.machine.set = options.model.set;
  service.machine.factors = options.model.factors;
  const auto count = [](const char* name, const std::string& text, std::int64_t high) {
    return text.empty() ? 0 : parse_count(name, text, 1, high);
  };
  if (!numbers.rate.empty()) service.rate = parse_positive("--rate", numbers.rate, kMostRate);
  service.concurrency = count("--concurrency", numbers.concurrency, kMaxUsers);
  service.requests = count("--requests", numbers.requests, kMaxPlanned);
  service.max_tokens = count("--max-tokens", numbers.max_tokens, 1 << 20);
  if (!numbers.prefix_cache.empty()) {
    service.prefix_share = parse_positive("--prefix-cache", numbers.prefix_cache, 1);
  }
  if (!numbers.probability.empty()) {
    request.probability = parse_positive("--probability", numbers.probability, 1);
  }
  if (!numbers.seed.empty()) {
    service.machine.seed =
        static_cast<std::uint64_t>(parse_count("--seed", numbers.seed, 0, kMaxSeed));
  }
  request.systems = listed(options.systems);
  request.dtypes = listed(options.dtypes);
  request.engines = listed(options.engines);
  request.libraries = listed(options.libraries);
  for (const std::string& batch : listed(numbers.max_batch)) {
    request.max_batches.push_back(parse_count("--max-batch", batch, 1, kMaxUsers));
  }
  check_plan(request);
  return request;
}

// In the process of a worker.
std::string planned_text(const Predictor& predict, const PlanRequest& request,
                         const std::string& system) {
  keep_inputs();
  try {
    return kPlanned + to_json(plan_system(predict, request, system));
  } catch (const UserError& error) {
    return kWrong + std::string(error.what());
  } catch (const std::exception& error) {
    return kBug + std::string(error.what());
  }
}

// Searches the systems that the store does not have. False: interrupted.
bool plan_all(const PlanRequest& request, const std::vector<std::string>& systems, int jobs,
              PlanStore& store, const Session& session) {
  std::vector<std::string> open;
  for (const std::string& system : systems) {
    if (store.find(system) == nullptr) open.push_back(system);
  }
  if (open.size() < systems.size()) {
    session.say(fmt::format("foretell: {} of {} systems are in the store already",
                            systems.size() - open.size(), systems.size()));
  }
  const StopSignals signals;
  Progress progress(session, "planning");
  WorkerGroup workers(
      [&](std::uint64_t number) { return planned_text(session.predict, request, open[number]); },
      std::min<int>(jobs, static_cast<int>(std::max<std::size_t>(1, open.size()))), 0);
  std::size_t given = 0;
  for (std::size_t done = 0; done < open.size();) {
    while (given < open.size() && workers.in_work() < static_cast<std::size_t>(jobs)) {
      workers.give(given++);
    }
    for (const TaskAnswer& answer : workers.answers(kPlanPatienceMs)) {
      const std::string& system = open[answer.number];
      ++done;
      if (answer.kind != TaskAnswer::Kind::kAnswer || answer.text.empty() ||
          answer.text.front() == kBug) {
        throw InternalError(__FILE__, __LINE__, system + ": " + answer.text);
      }
      if (answer.text.front() == kWrong) throw UserError(answer.text.substr(1));
      store.add(read_system_plan(answer.text.substr(1), system));
      progress.update(static_cast<double>(done) / static_cast<double>(open.size()), system);
    }
    if (StopSignals::received() != 0) return false;
  }
  return true;
}

int run_plan(const PlanOptions& options, const Session& session) {
  const Format format = parse_format(options.output.format);
  const PlanRequest request = read_plan_request(options);
  const std::vector<std::string> systems = candidate_systems(request);
  check_settings(request, systems);
  const int jobs = parse_jobs(options.jobs);
  OutputFile output(options.output.output);
  PlanStore store(options.store, request);
  const bool finished = plan_all(request, systems, jobs, store, session);

  PlanRecord record;
  record.context = {
      std::string(kVersion),         std::string(kCommit), request.service.machine.workload,
      load_options(request.service), request.service.slo,  request.probability,
      request.service.machine.seed};
  for (const std::string& system : systems) {
    if (const SystemPlan* plan = store.find(system)) record.systems.push_back(*plan);
  }
  mark_front(record);
  if (finished && nothing_holds(record)) {
    record.would_hold = cheapest_that_holds(session.predict, request);
  }
  std::string text;
  switch (format) {
    case Format::kTable:
      text = as_shown(options.output.output, plan_text(record, session.result_width));
      break;
    case Format::kJson:
      text = to_json(record) + "\n";
      break;
    case Format::kMarkdown:
      text = plan_markdown(record);
      break;
    default:
      text = rows_text(plan_rows(record), format);
  }
  output.write(text);
  output.finish();
  if (!finished) {
    session.say(fmt::format("foretell: interrupted; {} of {} systems were searched{}",
                            record.systems.size(), systems.size(),
                            options.store.empty()
                                ? "; with --store FILE the next run goes on from there"
                                : "; the same command goes on"));
    return kOutsideTolerance;
  }
  return best_of_systems(record).empty() ? kOutsideTolerance : kSuccess;
}

void add_plan_options(CLI::App& command, PlanOptions& options) {
  ServeRequest& service = options.request.service;
  PlanNumbers& numbers = options.numbers;
  const auto add = [&command](const char* name, std::string& text, const char* help,
                              const char* type) {
    command.add_option(name, text, help)->type_name(type);
  };
  add("--workload", service.machine.workload, "network by name, or a config.json", "NAME|FILE");
  add("--rate", numbers.rate, "load: requests per second", "R");
  add("--concurrency", numbers.concurrency,
      "load: this many users, each sends its next request when it has its answer", "N");
  add("--trace", service.trace, "load: a trace as `serve` takes it", "FILE");
  add("--arrivals", service.arrivals,
      "of --rate: poisson, uniform, gamma:CV or burst:N (default: poisson)", "WORD");
  add("--input-len", service.input_len,
      "tokens of a prompt: a number, uniform:A..B, histogram:FILE", "N");
  add("--output-len", service.output_len, "tokens of an answer, likewise", "N");
  add("--slo", service.slo, "promises, as in 'ttft.p99<=1s,tpot.p99<=40ms'", "PROMISES");
  add("--probability", numbers.probability,
      "with which all promises have to be kept, by the intervals (default: 0.8)", "P");
  add("--on", options.systems, "systems to choose from (default: all that have a price)",
      "SYSTEM,…");
  add("--dtype", options.dtypes, "types to choose from (default: fp8,bf16,fp16)", "TYPE,…");
  add("--kv-dtype", service.machine.kv_dtype, "type of the KV cache", "TYPE");
  add("--workers", options.request.workers,
      "together: every worker does prompts and answers; separate: some do one, some the other; "
      "both: the cheapest is also tried separate (default: both)",
      "WORD");
  add("--engine", options.engines,
      "serving engines of hw/engines to choose from (default: all, the newest of each that the "
      "system runs)",
      "NAME[@RELEASE],…");
  add("--library", options.libraries,
      "of GPUs: libraries of hw/kernels whose kernels networks may run, to choose from (default: "
      "the one of hw/kernels/choice.yaml, whatever the engine)",
      "LIBRARY,…");
  add("--max-batch", numbers.max_batch,
      "limits of the sequences of a worker to choose from (default: the engine's, and the largest "
      "that a promise of tpot allows)",
      "N,…");
  add("--max-tokens", numbers.max_tokens, "most tokens in a step (default: the engine's)", "N");
  add("--prefix-cache", numbers.prefix_cache, "share of every prompt that is found in the cache",
      "SHARE");
  add("--requests", numbers.requests,
      "simulated for each decision (default: 600 to 4000, by how many are in flight)", "N");
  add("--seed", numbers.seed, "seed of everything random (default: 0)", "N");
  add("--jobs", options.jobs, "processes (default: one per processor)", "N");
  add("--store", options.store,
      "file that keeps the systems that are searched: the same command goes on from there", "FILE");
}

}  // namespace

void add_plan_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<PlanOptions>();
  CLI::App* command =
      app.add_subcommand("plan", "Find the cheapest deployment that keeps promises");
  command->footer(
      "Searches systems, data types, engines, tensor parallelism, pipeline stages, experts and "
      "attention on ranks of their own, limits of the batch, separate workers and the number of "
      "instances. Memory and "
      "single steps rule out what cannot be cheaper; every decision is a simulation of the "
      "service.\n"
      "Examples:\n"
      "  foretell plan --workload Llama-3.1-70B --rate 10 --input-len 1024 --output-len 256 "
      "--slo 'ttft.p99<=1s,tpot.p99<=40ms'\n"
      "  foretell plan --workload Llama-3.1-8B --concurrency 200 --input-len 512 --output-len 128 "
      "--slo 'tpot.mean<=30ms' --on g6.xlarge,g6e.xlarge,inf2.xlarge");
  add_plan_options(*command, *options);
  add_model_options(*command, options->model);
  add_format_option(*command, options->output);
  command->callback([options, &session] {
    session.action = [options, &session] { return run_plan(*options, session); };
  });
}

}  // namespace foretell
