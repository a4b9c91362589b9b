#include "model/app/command/report/record_input.hpp"

#include "model/app/study/what_if/served_point.hpp"
#include "reports/record/json_lines.hpp"
#include "reports/record/serve_record.hpp"
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
  const std::string line = first_line(path);
  if (is_study_line(line)) return read_study_lines(path).records;
  if (!is_serve_line(line)) return read_json_lines(path);
  std::vector<RunRecord> records;
  for (const ServeRecord& served : read_serve_records(path))
    records.push_back(record_of_service(served));
  return records;
}

}  // namespace foretell
