#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <foretell/version.hpp>
#include <memory>

#include "model/app/command/commands.hpp"
#include "model/app/plan/plan.hpp"
#include "model/app/plan/plan_store.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/serving/request/serve_keys.hpp"
#include "model/app/terminal/help_groups.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/app/terminal/service_options.hpp"
#include "model/app/workers/stop_signals.hpp"
#include "model/app/workers/worker_group.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/base/text.hpp"
#include "reports/record/text_file.hpp"
#include "reports/render/plan_text.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxUsers = 1'000'000;
constexpr double kMostRate = 1e6;
constexpr int kPlanPatienceMs = 200;

// Answers of the forked workers begin with what they are.
constexpr char kPlanned = 'P';
constexpr char kWrong = 'W';  // a UserError
constexpr char kBug = 'B';

struct PlanOptions {
  PlanRequest request;
  ServiceOptions service;
  RequestOptions model;
  std::string systems;
  std::string dtypes;
  std::string engines;
  std::string libraries;
  std::string max_batch;
  std::string probability;
  std::string jobs;
  std::string store;
  OutputOptions output;
};

// The keys of a service that have options of their own here.
const std::vector<std::string> kOtherKeys = {"engine", "max_batch", "requests"};
// Options of `serve` that a plan says why it does not take; no help shows them.
constexpr const char* kRefused[] = {"--offline", "--decode-on"};

std::vector<std::string> listed(const std::string& text) {
  std::vector<std::string> names;
  for (const std::string& part : split(text, ',')) {
    if (!trim(part).empty()) names.emplace_back(trim(part));
  }
  return names;
}

PlanRequest read_plan_request(const PlanOptions& options) {
  PlanRequest request = options.request;
  ServeRequest& service = request.service;
  const std::string workload = service.machine.workload;
  service.machine = stated_request(options.model);
  service.machine.workload = workload;
  for (const auto& [key, text] : options.service) {
    set_serve_key(service, key, service_option(key), text);
  }
  if (service.rate > kMostRate) parse_positive("--rate", options.service.at("rate"), kMostRate);
  if (!options.probability.empty()) {
    request.probability = parse_positive("--probability", options.probability, 1);
  }
  request.systems = listed(options.systems);
  request.dtypes = listed(options.dtypes);
  request.engines = listed(options.engines);
  request.libraries = listed(options.libraries);
  for (const std::string& batch : listed(options.max_batch)) {
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
    }
    progress.update(static_cast<double>(done) / static_cast<double>(open.size()),
                    fmt::format(" ({} of {} systems)", done, open.size()));
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
  record.interrupted = !finished;
  mark_front(record);
  if (finished && nothing_holds(record) && !states_workers(request.service)) {
    record.would_hold = cheapest_that_holds(session.predict, request);
  }
  std::string text;
  switch (format) {
    case Format::kTable:
      text = plan_text(record, session.result_width);
      if (options.output.energy) text += plan_energies_text(record, session.result_width);
      text = as_shown(options.output.output, text);
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
  const auto add = [&command](const char* name, std::string& text, const char* help,
                              const char* type) { add_option(command, name, text, type, help); };
  add("workload,--workload", service.machine.workload, "network by name, or a config.json",
      "NAME|FILE");
  add_service_options(command, options.service, {}, kOtherKeys);
  for (const char* name : kRefused) command.get_option(name)->group("");
  add("--input-len", service.input_len,
      "tokens of a prompt: a number, uniform:A..B, histogram:FILE", "N");
  add("--output-len", service.output_len, "tokens of an answer, likewise", "N");
  add("--probability", options.probability,
      "with which all promises have to be kept, by the intervals (default: 0.8)", "P");
  add("--on", options.systems, "systems to choose from (default: all that have a price)",
      "SYSTEM,...");
  add("--dtype", options.dtypes, "types to choose from (default: fp8,bf16,fp16)", "TYPE,...");
  add_field_options(command, options.model, service_fields({"library"}));
  add("--workers", options.request.workers,
      "together: every worker does prompts and answers; separate: some do one, some the other; "
      "both: the cheapest is also tried separate (default: both)",
      "WORD");
  add("--engine", options.engines,
      "serving engines of hw/engines to choose from (default: all, the newest of each that the "
      "system runs)",
      "NAME[@RELEASE],...");
  add("--library", options.libraries,
      "of GPUs: libraries of hw/kernels whose kernels networks may run, to choose from (default: "
      "the one of hw/kernels/choice.yaml, whatever the engine)",
      "LIBRARY,...");
  add("--max-batch", options.max_batch,
      "limits of the sequences of a worker to choose from (default: the engine's, and the largest "
      "that a promise of tpot allows)",
      "N,...");
  add("--requests", options.service["requests"],
      "simulated for each decision (default: 600 to 4000, by how many are in flight; 6000 and more "
      "where they wait)",
      "N");
  add_seed_option(command, options.model.seed);
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
      "instances. Memory and single steps rule out what cannot be cheaper; every decision is a "
      "simulation of the service. What is stated of these (--tp, --dp, --attention-dp, --prefill "
      "with --decode, …) is not searched; with --usd-per-kwh costs have energy in them.\n"
      "Examples:\n"
      "  foretell plan --workload Llama-3.1-70B --rate 10 --input-len 1024 --output-len 256 --slo "
      "'ttft.p99<=1s,tpot.p99<=40ms'\n"
      "  foretell plan --workload Llama-3.1-8B --concurrency 200 --input-len 512 --output-len 128 "
      "--slo 'tpot.mean<=30ms' --on g6.xlarge,g6e.xlarge,inf2.xlarge");
  add_plan_options(*command, *options);
  add_model_options(*command, options->model);
  add_format_option(*command, options->output);
  add_energy_option(*command, options->output);
  group_service_help(*command, "Searched, where it is not stated");
  set_action(*command, session, [options, &session] { return run_plan(*options, session); });
}

}  // namespace foretell
