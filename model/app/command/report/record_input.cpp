#include "model/app/command/report/record_input.hpp"

#include "reports/record/json_lines.hpp"
#include "reports/record/store.hpp"
#include "reports/record/study_lines.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {

std::string first_line(const std::string& path) {
  InputFile file(path);
  std::string line;
  file.read_line(line);
  return line;
}

std::vector<RunRecord> read_records(const std::string& path) {
  if (is_record_store(path)) return RecordStore(path, RecordStore::Access::kRead).records();
  if (is_study_line(first_line(path))) return read_study_lines(path).records;
  return read_json_lines(path);
}

}  // namespace foretell
