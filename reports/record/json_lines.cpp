#include "reports/record/json_lines.hpp"

#include "model/base/errors.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {

std::vector<RunRecord> read_json_lines(const std::string& path) {
  InputFile file(path);
  std::vector<RunRecord> records;
  std::string line;
  for (int number = 1; file.read_line(line); ++number) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    records.push_back(run_record_from_json(line, path + ":" + std::to_string(number)));
  }
  if (records.empty())
    throw UserError(path + ": holds no records; expected one JSON object per line");
  return records;
}

std::string to_json_lines(const std::vector<RunRecord>& records) {
  std::string text;
  for (const RunRecord& record : records) text += to_json(record) + "\n";
  return text;
}

}  // namespace foretell
