#include "model/app/study/what_if/study_run.hpp"

#include <foretell/version.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "model/app/request/record/outcome_tag.hpp"
#include "model/app/request/resolve/field_names.hpp"
#include "model/app/serving/request/serve_keys.hpp"
#include "model/base/errors.hpp"
#include "model/base/hash.hpp"
#include "model/base/kept_inputs.hpp"

namespace foretell {
namespace {

constexpr std::size_t kRowsAtOnce = 500;  // that are stored together when nothing is computed

// What studies call options, of requests and of services.
const FieldNames& names_in_studies() {
  static const FieldNames kNames = [] {
    FieldNames names = key_names_of_fields();
    add_service_names(names);
    return names;
  }();
  return kNames;
}

PointResult result_of(const TaskAnswer& answer) {
  PointResult result;
  if (answer.kind == TaskAnswer::Kind::kTimeout) {
    result.status = kPointTimeout;
    result.message = "took longer than the time limit; raise --time-limit";
    return result;
  }
  if (answer.kind == TaskAnswer::Kind::kDied) {
    result.status = kPointCrashed;
    result.message = answer.text;
    return result;
  }
  FORETELL_CHECK(!answer.text.empty(), "a worker sent nothing");
  const std::string text = answer.text.substr(1);
  if (answer.text.front() == kRecordTag) {
    result.status = kPointGood;
    result.record = run_record_from_json(text, "worker");
  } else if (answer.text.front() == kUserFaultTag) {
    result.status = kPointRefused;
    result.message = text;
  } else {
    result.status = kPointCrashed;
    result.message = "internal error: " + text;
  }
  return result;
}

}  // namespace

std::string answer_point(const Study& study, const DefaultValue& defaults, const Predictor& predict,
                         std::uint64_t number) {
  keep_inputs();
  try {
    RunRecord record = predict(study_request(plan_point(study, number, defaults).values));
    record.operators.clear();
    record.resources.clear();
    record.machine.reset();
    record.values.clear();
    return kRecordTag + to_json(record);
  } catch (const UserError& error) {
    return kUserFaultTag + with_names(error.what(), names_in_studies());
  } catch (const std::exception& error) {
    return kOurFaultTag + std::string(error.what());
  }
}

std::string study_basis() {
  return std::string(kVersion) + '\n' + std::string(kCommit) + '\n' + data_hash() + '\n';
}

StudyHead study_head(const Study& study, const std::string& basis) {
  StudyHead head;
  head.name = study.name;
  head.hash = content_hash(basis + NamedFiles().of(study) + study.text);
  head.version = std::string(kVersion) + " (" + std::string(kCommit) + ")";
  head.points = study.points();
  head.keys = study.keys();
  for (const StudyFormula& formula : study.derived) head.keys.push_back(formula.key);
  head.definition = study.text;
  return head;
}

StudyRun::StudyRun(const Study& study, const std::string& basis, DefaultValue defaults,
                   StudyStore& store, const StudyHead& head)
    : study_(study), basis_(basis), defaults_(std::move(defaults)), store_(store), head_(head) {}

std::string StudyRun::values_json(const Study& study, const PointValues& values) {
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const std::string& key : study.keys()) json[key] = values.at(key);
  for (const StudyFormula& formula : study.derived) {
    if (const auto found = values.find(formula.key); found != values.end())
      json[formula.key] = found->second;
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

bool StudyRun::plan_one(std::uint64_t number) {
  Planned planned;
  planned.row.number = number;
  PointResult result;
  try {
    StudyPoint point = plan_point(study_, number, defaults_);
    planned.values = std::move(point.values);
    planned.row.values = values_json(study_, planned.values);
    if (!point.skipped_by.empty()) {
      planned.row.skipped_by = point.skipped_by;
      planned.row.inside = false;
      if (row_) row_(number, {});
      rows_.push_back(std::move(planned.row));
      ++counts_.skipped;
      ++counts_.done;
      return false;
    }
    result.context = request_json(study_request(planned.values));
  } catch (const UserError& error) {  // a value that this point alone cannot have
    planned.values = varied_values(study_, number);
    planned.row.values = values_json(study_, planned.values);
    result.context = planned.row.values;
    result.status = kPointRefused;
    result.message = with_names(error.what(), names_in_studies());
  }
  result.hash = content_hash(basis_ + files_.of(planned.values) + result.context);
  planned.row.hash = result.hash;
  if (!result.status.empty()) {
    results_.push_back(result);
    add_row(std::move(planned), result);
    return false;
  }
  if (const auto same = waiting_.find(result.hash); same != waiting_.end()) {
    same->second.push_back(std::move(planned));
    return false;
  }
  if (const std::optional<PointResult> known = store_.find(result.hash)) {
    FORETELL_CHECK(known->context == result.context, "two points with one hash");
    ++counts_.reused;
    add_row(std::move(planned), *known);
    return false;
  }
  hashes_[number] = result.hash;
  contexts_[result.hash] = result.context;
  waiting_[result.hash].push_back(std::move(planned));
  return true;
}

void StudyRun::add_row(Planned planned, const PointResult& result) {
  JudgedPoint judged;
  if (result.record) {
    try {
      judged =
          judge_point(study_, planned.values, point_metrics(result.record->summary), defaults_);
      planned.row.inside = judged.inside;
    } catch (const UserError&) {  // a constraint on what this point does not have
      planned.row.inside = false;
    }
  } else {
    planned.row.inside = false;
    ++counts_.failed;
    if (failed_) failed_(planned.row.number, result.message);
  }
  ++counts_.done;
  if (row_)
    row_(planned.row.number, planned.row.inside ? judged.objectives : std::vector<double>());
  rows_.push_back(std::move(planned.row));
}

std::vector<std::uint64_t> StudyRun::plan(const std::function<bool(std::uint64_t&)>& next,
                                          std::size_t most, const std::function<bool()>& stop) {
  std::vector<std::uint64_t> numbers;
  std::uint64_t number = 0;
  while (numbers.size() < most && !stop() && next(number)) {
    if (plan_one(number)) numbers.push_back(number);
    if (rows_.size() >= kRowsAtOnce) flush();
  }
  return numbers;
}

void StudyRun::store(std::vector<TaskAnswer> answers) {
  for (const TaskAnswer& answer : answers) {
    PointResult result = result_of(answer);
    const auto hash = hashes_.find(answer.number);
    FORETELL_CHECK(hash != hashes_.end(), "an answer to no point");
    result.hash = hash->second;
    hashes_.erase(hash);
    result.context = contexts_.at(result.hash);
    contexts_.erase(result.hash);
    std::vector<Planned> rows = std::move(waiting_.at(result.hash));
    waiting_.erase(result.hash);
    ++counts_.computed;
    counts_.reused += rows.size() - 1;
    for (Planned& planned : rows) add_row(std::move(planned), result);
    results_.push_back(std::move(result));
  }
  flush();
}

void StudyRun::flush() {
  if (!rows_.empty() || !results_.empty()) store_.add(head_, rows_, results_);
  rows_.clear();
  results_.clear();
  report();
}

void StudyRun::report() const {
  if (report_) report_(counts_);
}

}  // namespace foretell
