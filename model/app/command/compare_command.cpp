#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "model/app/command/commands.hpp"
#include "model/app/command/service_result.hpp"
#include "model/app/command/slower_types.hpp"
#include "model/app/request/family/device_family.hpp"
#include "model/app/request/parallel_predict.hpp"
#include "model/app/request/record/make_record.hpp"
#include "model/app/terminal/options.hpp"
#include "model/app/terminal/output.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/request_options.hpp"
#include "model/app/terminal/service_options.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "reports/render/energy_text.hpp"
#include "reports/render/record_text.hpp"

namespace foretell {
namespace {

struct CompareOptions {
  RequestOptions request;
  OutputOptions output;
  std::string jobs;
  std::string price = kOnDemand;
  ServiceOptions service;
};

std::string describe(const RunContext& context) {
  std::vector<std::string> parts = {context.workload + " on " + context.system};
  for (const std::string& part : {context.dtype, scenario_text(context.scenario)}) {
    if (!part.empty()) parts.push_back(part);
  }
  return join(parts, ", ");
}

// Every system of a comparison has to have a price by that name, or the name is a mistake.
void check_price(const std::string& price, const std::vector<Request>& combinations) {
  std::vector<std::string> options;
  for (const Request& request : combinations) {
    for (const auto& [option, usd] : family_of(request.system).prices(request)) {
      if (option == price) return;
      options.push_back(option);
    }
  }
  if (options.empty() && price == kOnDemand) return;  // no price is known at all
  std::sort(options.begin(), options.end());
  options.erase(std::unique(options.begin(), options.end()), options.end());
  throw unknown_name("price", price, options);
}

std::vector<PredictionOutcome> predict_combinations(const CompareOptions& options,
                                                    const std::vector<Request>& combinations,
                                                    bool is_all_shown, const Session& session) {
  Progress progress(session, "comparing");
  return predict_all(session.predict, combinations, parse_jobs(options.jobs),
                     is_all_shown ? Detail::kEverything : Detail::kByResource,
                     [&progress](double share) { progress.update(share); });
}

ComparedRun compared_run(const Request& request, PredictionOutcome&& outcome) {
  if (outcome.record) return {std::move(*outcome.record), ""};
  FORETELL_CHECK(!outcome.is_ours, outcome.error);
  return {unpredicted(request, family_of(request.system).find_system(request.system)),
          outcome.error};
}

// Combinations that cannot be predicted keep their row and say why; the others are delivered.
int compare(const CompareOptions& options, const Session& session) {
  const std::vector<Request> combinations = requests(options.request);
  if (asks_for_service(options.service)) {
    if (options.price != kOnDemand)
      throw UserError("--price: services are priced on demand; leave it out");
    return compare_services(service_requests(combinations, options.service), options.output,
                            session);
  }
  for (const Request& request : combinations) check_names(request);
  check_price(options.price, combinations);
  RecordOutput output(options.output);
  const bool is_all_shown = output.format() == Format::kJson || !options.output.store.empty();
  std::vector<PredictionOutcome> outcomes =
      predict_combinations(options, combinations, is_all_shown, session);
  std::vector<ComparedRun> runs;
  std::vector<RunRecord> records;
  std::string failures;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    runs.push_back(compared_run(combinations[i], std::move(outcomes[i])));
    const ComparedRun& run = runs.back();
    if (run.problem.empty()) {
      records.push_back(run.record);
      if (!is_all_shown) records.back().operators.clear();  // sums, for slower_types() alone
    } else {
      failures += "\n  " + describe(run.record.context) + ": " + run.problem;
    }
  }
  if (records.empty()) throw UserError("nothing could be predicted:" + failures);
  std::string text = comparison_text(runs, options.price, session.result_width);
  for (const std::string& note : slower_types(runs)) text += "note: " + note + "\n";
  if (options.output.energy) text += energies_text(records, session.result_width);
  output.deliver(records, text);
  for (const RunRecord& record : records) session.list_notes(record.context.notes);
  if (failures.empty()) return kSuccess;
  // A table that is not cut to a terminal has the reasons already.
  const bool is_said = output.format() == Format::kTable && session.result_width == 0;
  session.say(is_said ? fmt::format("foretell: {} of {} combinations have no prediction; the table "
                                    "says why",
                                    runs.size() - records.size(), runs.size())
                      : "foretell: without a prediction:" + failures);
  return kOutsideTolerance;
}

}  // namespace

void add_compare_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command =
      app.add_subcommand("compare", "Predict every combination of systems, data types, batches");
  command->footer(
      "Examples:\n"
      "  foretell compare --on inf2.xlarge,inf2.8xlarge --workload bert-large-uncased --seq 128 "
      "--dtype fp32,bf16,fp8 --batch 1,8\n"
      "  foretell compare --on inf2.xlarge,inf2.8xlarge,inf2.24xlarge,inf2.48xlarge --workload "
      "llama-3-8b --input-len 1024 --output-len 256 --dtype bf16 --price reserved_1y\n"
      "  foretell compare --on h100-sxm-x8,h200-sxm-x8 --workload Llama-3.1-70B --dtype fp8,bf16 "
      "--tp 8 --input-len 1024 --output-len 256 --concurrency 16,64\n"
      "With a load (--concurrency, --rate, --trace or --offline) services are compared, as "
      "`foretell serve` predicts them.");
  add_request_options(*command, options->request, true);
  add_format_option(*command, options->output);
  add_store_option(*command, options->output);
  add_energy_option(*command, options->output);
  add_option(*command, "--jobs", options->jobs, "N",
             "processes (default: one per processor); services share one");
  add_option(*command, "--price", options->price, "OPTION",
             "purchase option of the costs shown: on_demand, reserved_1y, reserved_3y "
             "(default: on_demand)");
  add_service_options(*command, options->service, listed_service_keys(), {"dp", "attention_dp"});
  set_action(*command, session, [options, &session] { return compare(*options, session); });
}

}  // namespace foretell
