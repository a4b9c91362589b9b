#include "model/cli/study_report.hpp"

#include <vector>

#include "model/base/errors.hpp"
#include "model/cli/study_table.hpp"
#include "reports/record/store.hpp"
#include "reports/render/html_report.hpp"

namespace foretell {
namespace {

constexpr std::size_t kShown = 30;  // rows of the front on a terminal

const StudyHead* find_study(const std::vector<StudyHead>& studies, const std::string& name) {
  const StudyHead* found = nullptr;  // the newest: a changed study keeps its name
  for (const StudyHead& head : studies) {
    if (name.empty() || head.name == name) found = &head;
  }
  return found;
}

}  // namespace

std::optional<std::string> study_report(const std::string& path, const std::string& name,
                                        const std::string& extension, int width) {
  if (!is_record_store(path)) {
    if (name.empty()) return std::nullopt;
    throw UserError(path + ": holds no studies: it is no store of `foretell sweep`");
  }
  const StudyStore store(path, StoreAccess::kRead);
  const std::vector<StudyHead> studies = store.studies();
  const bool has_records = !RecordStore(path, StoreAccess::kRead).records().empty();
  if (name.empty() && (studies.empty() || has_records)) return std::nullopt;
  const StudyHead* head = find_study(studies, name);
  if (head == nullptr) {
    std::vector<std::string> names;
    for (const StudyHead& study : studies) names.push_back(study.name);
    throw unknown_name("study", name, names);
  }
  const StudyResults results = study_results(store, *head);
  if (extension == ".csv") return study_csv(store, results);
  if (extension == ".md") return study_markdown(results);
  if (extension.empty()) return study_text(results, kShown, width);
  std::vector<RunRecord> records;
  for (const StudyRow& row : results.front) records.push_back(*row.result.record);
  if (records.empty()) throw UserError(path + ": no point of '" + head->name + "' is on the front");
  ReportContent content;
  content.title = head->name;
  content.records = std::move(records);
  return html_report(content);
}

}  // namespace foretell
