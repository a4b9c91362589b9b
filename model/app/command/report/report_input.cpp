#include "model/app/command/report/report_input.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "calib/validate/accuracy_report.hpp"
#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/provenance.hpp"
#include "model/app/command/report/predicted_rows.hpp"
#include "model/app/command/report/record_input.hpp"
#include "model/app/study/study.hpp"
#include "model/app/study/sweep/sweep.hpp"
#include "model/app/study/what_if/served_point.hpp"
#include "model/app/study/what_if/study_check.hpp"
#include "model/app/study/what_if/study_report.hpp"
#include "model/app/study/what_if/study_request.hpp"
#include "model/app/study/what_if/study_run.hpp"
#include "model/app/study/what_if/study_table.hpp"
#include "model/app/terminal/progress.hpp"
#include "model/app/terminal/scenario_file.hpp"
#include "model/app/terminal/session.hpp"
#include "model/app/workers/worker_group.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/config/document.hpp"
#include "reports/record/store.hpp"
#include "reports/record/study_lines.hpp"
#include "reports/record/study_store.hpp"
#include "reports/render/service_text.hpp"
#include "reports/render/si_format.hpp"

namespace foretell {
namespace {

constexpr double kMaxPoint = 300;  // s, as in a sweep

// Predicts every point into the store. UserError for a study that is wrong, or that searches.
StudyHead compute_study(const Study& study, int jobs, const Session& session, StudyStore& store) {
  if (study.search) {
    throw UserError("study '" + study.name +
                    "' searches; run it with `foretell sweep` and --store FILE, then report that "
                    "file");
  }
  const DefaultValue defaults = ParameterDefaults();
  check_study(study, defaults);
  const std::string basis = study_basis();
  const Predictor predict = with_services(session.predict);
  WorkerGroup workers(
      [&](std::uint64_t number) { return answer_point(study, defaults, predict, number); }, jobs,
      kMaxPoint);
  SweepRunner runner(workers, nullptr);
  bool is_new = false;
  StudyHead head = store.begin(study_head(study, basis), is_new);
  StudyRun run(study, basis, defaults, store, head);
  Progress progress(session, "predicting");
  run.on_progress([&](const StudyCounts& counts) {
    progress.update(static_cast<double>(counts.done) / static_cast<double>(head.points));
  });
  run.counts().points = head.points;
  std::uint64_t open = 0;
  const auto next = [&](std::uint64_t& number) {
    number = open;
    return open++ < head.points;
  };
  const auto never = [] { return false; };
  runner.run([&](std::size_t most) { return run.plan(next, most, never); },
             [&](const std::vector<TaskAnswer>& answers) { run.store(answers); }, never);
  run.flush();
  return head;
}

constexpr std::string_view kAccuracyAny = R"({"schema":"foretell.accuracy/)";
constexpr std::string_view kAccuracyStart = R"({"schema":"foretell.accuracy/1")";

constexpr std::string_view kExplanation = R"("explanation":{)";

// The text as it is, once it is known to be whole.
std::string checked_accuracy(const std::string& text, const std::string& path) {
  if (!nlohmann::json::accept(text)) {
    throw UserError(path + ": the result of a validation, but not whole; write it again");
  }
  if (!starts_with(text, kAccuracyStart)) {
    throw UserError(path + ": a validation of another version; this one reads foretell.accuracy/1");
  }
  accuracy_from_json(text, path);
  return text;
}

// What `explain --format json` wrote beside a record: what moves it.
std::string sensitivity_in(const std::string& line) {
  const nlohmann::ordered_json json = nlohmann::ordered_json::parse(line, nullptr, false);
  if (json.is_discarded() || !json.contains("explanation")) return "";
  const auto& explanation = json.at("explanation");
  if (!explanation.is_object() || !explanation.contains("sensitivity")) return "";
  const auto& rows = explanation.at("sensitivity");
  return rows.is_array() && !rows.empty() ? rows.dump() : "";
}

// How many points of a study came to what, and why those that failed did.
void tell_points(const StudyLines& study, ReportContent& content) {
  const auto count = [](std::uint64_t number) { return count_format(static_cast<double>(number)); };
  std::uint64_t failed = 0;
  for (const auto& entry : study.failures) failed += entry.second;
  content.about = fmt::format(
      "A study of {} points: {} predicted, {} of them outside the constraints; {} skipped by "
      "constraints, {} failed.",
      count(study.points), count(content.records.size()), count(study.outside),
      count(study.skipped), count(failed));
  content.problems = failure_lines(study.failures);
}

// What `sweep --format json` wrote.
void read_lines_of_study(const std::string& path, ReportContent& content) {
  StudyLines study = read_study_lines(path);
  content.title = study.name;
  content.keys = study.keys;
  content.records = std::move(study.records);
  tell_points(study, content);
}

// The best of the points alike in the keys of `best_of`, inside the constraints.
class BestPoints {
 public:
  explicit BestPoints(const Study& study) : study_(study) {}

  // Place in the list of records, or none for a point without a record.
  void add(const StudyRow& row, const std::vector<double>& objectives,
           std::optional<std::size_t> place) {
    if (study_.best_of.empty()) return;
    const nlohmann::json values = nlohmann::json::parse(row.point.values, nullptr, false);
    std::string group;
    for (const std::string& key : study_.best_of)
      group += (group.empty() ? "" : ", ") + key + " " + values.value(key, "");
    const auto [found, is_new] = best_.try_emplace(group);
    if (is_new) groups_.push_back(group);
    if (!place || !row.point.inside || objectives.empty()) return;
    const double value = study_.objectives.front().maximise ? -objectives[0] : objectives[0];
    if (found->second && value >= found->second->first) return;
    found->second = {value, *place};
  }

  void keep(ReportContent& content) const {
    if (study_.best_of.empty()) return;
    std::vector<std::size_t> kept;
    for (const std::string& group : groups_) {
      const auto& best = best_.at(group);
      if (best) {
        kept.push_back(best->second);
      } else {
        content.problems.push_back(group + ": no point was predicted inside the constraints");
      }
    }
    std::sort(kept.begin(), kept.end());
    content.about += fmt::format(" Of points alike in {} the one with the best {} is shown.",
                                 join(study_.best_of, " and "), study_.objectives.front().name);
    std::vector<RunRecord> records;
    for (const std::size_t place : kept) records.push_back(std::move(content.records[place]));
    content.records = std::move(records);
    for (ObjectiveValues& objective : content.objectives) {
      if (objective.values.empty()) continue;
      std::vector<double> values;
      for (const std::size_t place : kept) values.push_back(objective.values[place]);
      objective.values = std::move(values);
    }
  }

 private:
  using Best = std::optional<std::pair<double, std::size_t>>;  // value and place

  const Study& study_;
  std::vector<std::string> groups_;  // in the order of the study
  std::map<std::string, Best> best_;
};

// A study: its points as records, and what failed, equal reasons once.
void read_study(const StudyStore& store, const StudyHead& head, ReportContent& content) {
  content.title = head.name;
  content.definition = head.definition;
  content.keys = head.keys;
  const Study study = stored_study(head.name, head.definition);
  for (const StudyObjective& objective : study.objectives)
    content.objectives.push_back({objective.name, objective.maximise, {}});
  const DefaultValue defaults = ParameterDefaults();
  StudyLines counts;
  counts.points = head.points;
  BestPoints best(study);
  store.read(head, [&](const StudyRow& row) {
    if (!row.result.record) best.add(row, {}, std::nullopt);
    if (row.result.record) {
      best.add(row, objectives_of(study, row, defaults), content.records.size());
      content.records.push_back(*row.result.record);
      if (!row.point.inside) ++counts.outside;
      const std::vector<double> wanted = objectives_of(study, row, defaults);
      for (std::size_t i = 0; i < content.objectives.size(); ++i) {
        ObjectiveValues& objective = content.objectives[i];
        if (is_study_metric(objective.name)) continue;  // the record holds it
        objective.values.push_back(i < wanted.size() ? wanted[i] : 0);
      }
    } else if (row.point.hash.empty()) {
      ++counts.skipped;
    } else {
      ++counts.failures[row.result.message];
    }
  });
  tell_points(counts, content);
  best.keep(content);
}

// That a report of single predictions leaves them out.
std::string other_studies(const std::vector<StudyHead>& studies) {
  std::set<std::string> names;
  for (const StudyHead& head : studies) names.insert(head.name);
  return fmt::format(
      "foretell: the single predictions are shown; the store also holds {}: {} (--study NAME)",
      names.size() == 1 ? "a study" : "studies", join({names.begin(), names.end()}, ", "));
}

// The records of a store, or those of its newest study when it holds no others.
void read_store(const std::string& path, const std::string& study, const Session& session,
                ReportContent& content) {
  if (study.empty()) content.records = read_records(path);
  const StudyStore stored(path, StoreAccess::kRead);
  const std::vector<StudyHead> studies = stored.studies();
  if (!content.records.empty()) {
    if (!studies.empty()) session.say(other_studies(studies));
  } else {
    if (!studies.empty() || !study.empty()) read_study(stored, find_study(studies, study), content);
  }
  if (content.records.empty() && content.problems.empty()) {
    throw UserError(path + ": holds no records; the commands that predict add some with --store");
  }
}

// "A2" of "A2:21".
std::string id_of_source(const std::string& source) { return source.substr(0, source.find(':')); }

// What the sources that records and claims name stand for. Ids that are no publications (factors,
// --set) are left out.
void cite_sources(ReportContent& content) {
  std::set<std::string> ids;
  for (const RunRecord& record : content.records) {
    for (const ValueRecord& value : record.values) ids.insert(id_of_source(value.source));
    if (!record.machine) continue;
    for (const PeakRecord& peak : record.machine->compute) ids.insert(id_of_source(peak.source));
    for (const PeakRecord& peak : record.machine->bandwidths) ids.insert(id_of_source(peak.source));
  }
  for (const JudgedClaim& judged : content.claims) ids.insert(id_of_source(judged.claim.source));
  const Bibliography bibliography = Bibliography::of(hw_folder());
  for (const std::string& id : ids) {
    if (bibliography.problem_with(id).empty())
      content.sources.push_back({id, bibliography.cite(id)});
  }
}

}  // namespace

namespace {

// By its name: *.yaml or *.yml.
bool is_scenario(const std::string& path) {
  const std::string extension = to_lower(std::filesystem::path(path).extension().string());
  return extension == ".yaml" || extension == ".yml";
}

// A file of YAML that begins a study; what is wrong with it is said by who reads it as a whole.
bool is_study_file(const std::string& path) {
  if (!is_scenario(path)) return false;
  try {
    return load_document(path).find("study") != nullptr;
  } catch (const UserError&) {
    return false;
  }
}

}  // namespace

ReportContent read_report(const std::string& path, int jobs, const Session& session,
                          const std::string& study) {
  ReportContent content;
  if (is_study_file(path)) {
    StudyStore store(":memory:", StoreAccess::kWrite);
    const StudyHead head = compute_study(load_study(path), jobs, session, store);
    read_study(store, head, content);
  } else if (is_scenario(path)) {
    content = predict_scenario(load_scenario(path), jobs, session);
  } else if (is_record_store(path)) {
    read_store(path, study, session, content);
  } else {
    const std::string line = first_line(path);
    if (starts_with(line, kAccuracyAny)) {
      content.accuracy = checked_accuracy(line, path);
    } else if (is_predicted_line(line)) {
      content = read_predicted_rows(path);
    } else if (is_study_line(line)) {
      read_lines_of_study(path, content);
    } else if (is_serve_line(line)) {
      content.services = read_serve_records(path);
    } else {
      content.records = read_records(path);
      if (line.find(kExplanation) != std::string::npos) content.sensitivity = sensitivity_in(line);
    }
  }
  if (content.title.empty() && content.records.size() == 1) {
    const RunContext& context = content.records.front().context;
    content.title = context.workload + " on " + context.system;
  }
  if (content.title.empty() && !content.services.empty())
    content.title = service_title(content.services);
  if (content.title.empty()) content.title = std::filesystem::path(path).stem().string();
  cite_sources(content);
  return content;
}

}  // namespace foretell
