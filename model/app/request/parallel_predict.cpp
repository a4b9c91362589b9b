#include "model/app/request/parallel_predict.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "model/app/request/record/outcome_tag.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/workers/worker_pool.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kMaxJobs = 4096;

// The longest first.
std::vector<OperatorRecord> by_resource(const std::vector<OperatorRecord>& operators) {
  std::map<std::string, OperatorRecord> folded;
  for (const OperatorRecord& op : operators) {
    OperatorRecord& sum = folded[op.critical];
    sum.name = sum.op = sum.engine = sum.critical = op.critical;
    sum.duration_s += op.duration_s;
  }
  std::vector<OperatorRecord> sorted;
  for (auto& [name, sum] : folded) sorted.push_back(std::move(sum));
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.duration_s > b.duration_s; });
  return sorted;
}

std::string predict_as_text(const Predictor& predict, const Request& request, Detail detail) {
  try {
    RunRecord record = predict(request);
    if (detail == Detail::kSummary) record.operators.clear();
    if (detail == Detail::kByResource) record.operators = by_resource(record.operators);
    if (detail != Detail::kEverything) record.resources.clear();
    return kRecordTag + to_json(record);
  } catch (const UserError& error) {
    return kUserFaultTag + std::string(error.what());
  } catch (const std::exception& error) {
    return kOurFaultTag + std::string(error.what());
  }
}

PredictionOutcome outcome_of(const TaskOutcome& task) {
  if (task.stopped) return {{}, "", false, true};
  if (!task.finished) return {{}, "internal error: " + task.text, true};
  FORETELL_CHECK(!task.text.empty(), "a worker sent nothing");
  const std::string text = task.text.substr(1);
  switch (task.text.front()) {
    case kRecordTag:
      return {run_record_from_json(text, "worker"), "", false};
    case kUserFaultTag:
      return {{}, text, false};
    default:
      return {{}, "internal error: " + text, true};
  }
}

}  // namespace

std::vector<PredictionOutcome> predict_all(const Predictor& predict,
                                           const std::vector<Request>& requests, int jobs,
                                           Detail detail,
                                           const std::function<void(double)>& progress) {
  const auto tasks = run_forked(
      requests.size(), jobs,
      [&](std::size_t i) {
        keep_inputs();
        return predict_as_text(predict, requests[i], detail);
      },
      [&](std::size_t done) {
        if (progress) progress(static_cast<double>(done) / static_cast<double>(requests.size()));
      },
      Processes::kKept);
  std::vector<PredictionOutcome> outcomes;
  outcomes.reserve(tasks.size());
  for (const TaskOutcome& task : tasks) outcomes.push_back(outcome_of(task));
  return outcomes;
}

int parse_jobs(const std::string& text) {
  if (text.empty()) return default_jobs();
  return static_cast<int>(parse_count("--jobs", text, 1, kMaxJobs));
}

}  // namespace foretell
