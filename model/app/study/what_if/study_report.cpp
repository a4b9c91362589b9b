#include "model/app/study/what_if/study_report.hpp"

#include "model/app/study/what_if/study_table.hpp"
#include "model/base/errors.hpp"
#include "reports/record/store.hpp"

namespace foretell {
namespace {

constexpr std::size_t kShown = 30;  // rows of the front on a terminal

}  // namespace

const StudyHead& find_study(const std::vector<StudyHead>& studies, const std::string& name) {
  std::vector<std::string> names;
  const StudyHead* found = nullptr;
  for (const StudyHead& head : studies) {
    names.push_back(head.name);
    if (name.empty() || head.name == name) found = &head;
  }
  if (found == nullptr) throw unknown_name("study", name, names);
  return *found;
}

std::optional<std::string> study_report(const std::string& path, const std::string& name,
                                        Format format, int width) {
  if (!is_record_store(path)) {
    if (name.empty()) return std::nullopt;
    throw UserError(path + ": holds no studies: it is no store of `foretell sweep`");
  }
  const StudyStore store(path, StoreAccess::kRead);
  const std::vector<StudyHead> studies = store.studies();
  const bool has_records = !RecordStore(path, StoreAccess::kRead).records().empty();
  if (name.empty() && (studies.empty() || has_records)) return std::nullopt;
  const StudyResults results = study_results(store, find_study(studies, name));
  if (format == Format::kTable) return study_text(results, kShown, width);
  if (format == Format::kMarkdown) return study_markdown(results);
  return rows_text(study_rows(store, results), format);
}

}  // namespace foretell
