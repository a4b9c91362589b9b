#include "reports/command/record_input.hpp"

#include "reports/record/json_lines.hpp"
#include "reports/record/store.hpp"

namespace foretell {

std::vector<RunRecord> read_records(const std::string& path) {
  if (is_record_store(path)) return RecordStore(path, RecordStore::Access::kRead).records();
  return read_json_lines(path);
}

}  // namespace foretell
