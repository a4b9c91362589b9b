#include <CLI/CLI.hpp>
#include <memory>
#include <ostream>

#include "model/base/errors.hpp"
#include "model/cli/commands.hpp"
#include "model/cli/output.hpp"
#include "model/cli/parallel_predict.hpp"
#include "model/cli/progress.hpp"
#include "model/cli/request_options.hpp"
#include "model/cli/resolved_request.hpp"
#include "reports/render/record_text.hpp"

namespace foretell {
namespace {

struct CompareOptions {
  RequestOptions request;
  OutputOptions output;
  std::string jobs;
};

std::string describe(const Request& request) {
  return request.workload + " on " + request.system + ", " + request.dtype + ", batch " +
         std::to_string(request.batch);
}

// Combinations that cannot be predicted are reported; the others are delivered.
int compare(const CompareOptions& options, const Session& session) {
  const std::vector<Request> combinations = requests(options.request);
  for (const Request& request : combinations) check_names(request);
  const int jobs = parse_jobs(options.jobs);
  RecordOutput output(options.output);
  std::vector<PredictionOutcome> outcomes;
  {
    Progress progress(session, "comparing");
    outcomes = predict_all(session.predict, combinations, jobs, Detail::kEverything,
                           [&progress](double share) { progress.update(share); });
  }
  std::vector<RunRecord> records;
  std::string failures;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].record) {
      records.push_back(std::move(*outcomes[i].record));
    } else {
      FORETELL_CHECK(!outcomes[i].is_ours, outcomes[i].error);
      failures += "\n  " + describe(combinations[i]) + ": " + outcomes[i].error;
    }
  }
  if (records.empty()) throw UserError("nothing could be predicted:" + failures);
  output.deliver(records, comparison_text(records, session.result_width));
  if (failures.empty()) return kSuccess;
  *session.messages << "foretell: left out:" << failures << '\n';
  return kOutsideTolerance;
}

}  // namespace

void add_compare_command(CLI::App& app, Session& session) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App* command =
      app.add_subcommand("compare", "Predict every combination of systems, data types, batches");
  command->footer(
      "Example:\n"
      "  foretell compare --on inf2.xlarge,inf2.8xlarge --workload bert-large-uncased --seq 128 "
      "--dtype fp32,bf16,fp8 --batch 1,8");
  add_request_options(*command, options->request, true);
  add_format_option(*command, options->output);
  add_store_option(*command, options->output);
  command->add_option("--jobs", options->jobs, "processes (default: one per processor)")
      ->type_name("N");
  command->callback([options, &session] {
    session.action = [options, &session] { return compare(*options, session); };
  });
}

}  // namespace foretell
