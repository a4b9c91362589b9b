#include "model/cli/report_input.hpp"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "model/cli/record_input.hpp"
#include "model/cli/scenario_file.hpp"
#include "reports/record/store.hpp"
#include "reports/record/study_store.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

constexpr std::string_view kAccuracyAny = R"({"schema":"foretell.accuracy/)";
constexpr std::string_view kAccuracyStart = R"({"schema":"foretell.accuracy/1")";

std::string first_line(const std::string& path) {
  InputFile file(path);
  std::string line;
  file.read_line(line);
  return line;
}

// The text as it is, once it is known to be whole.
std::string checked_accuracy(const std::string& text, const std::string& path) {
  if (!nlohmann::json::accept(text)) {
    throw UserError(path + ": the result of a validation, but not whole; write it again");
  }
  if (!starts_with(text, kAccuracyStart)) {
    throw UserError(path + ": a validation of another version; this one reads foretell.accuracy/1");
  }
  return text;
}

// The newest study: its points as records, and what failed, equal reasons once.
void read_study(const std::string& path, ReportContent& content) {
  const StudyStore store(path, StoreAccess::kRead);
  const std::vector<StudyHead> studies = store.studies();
  if (studies.empty()) return;
  content.title = studies.back().name;
  std::map<std::string, std::size_t> failures;
  store.read(studies.back(), [&](const StudyRow& row) {
    if (row.result.record) {
      content.records.push_back(*row.result.record);
    } else if (!row.result.message.empty()) {
      ++failures[row.result.message];
    }
  });
  for (const auto& [message, times] : failures) {
    content.problems.push_back(std::to_string(times) + (times == 1 ? " point: " : " points: ") +
                               message);
  }
}

// The records of a store, or those of its newest study when it holds no others.
void read_store(const std::string& path, ReportContent& content) {
  content.records = read_records(path);
  if (content.records.empty()) read_study(path, content);
  if (content.records.empty() && content.problems.empty()) {
    throw UserError(path + ": holds no records; the commands that predict add some with --store");
  }
}

}  // namespace

bool is_scenario(const std::string& path) {
  const std::string extension = to_lower(std::filesystem::path(path).extension().string());
  return extension == ".yaml" || extension == ".yml";
}

ReportContent read_report(const std::string& path, int jobs, const Session& session) {
  ReportContent content;
  if (is_scenario(path)) {
    content = predict_scenario(load_scenario(path), jobs, session);
  } else if (is_record_store(path)) {
    read_store(path, content);
  } else {
    const std::string line = first_line(path);
    if (starts_with(line, kAccuracyAny)) {
      content.accuracy = checked_accuracy(line, path);
    } else {
      content.records = read_records(path);
    }
  }
  if (content.title.empty()) content.title = std::filesystem::path(path).stem().string();
  return content;
}

}  // namespace foretell
