#include "reports/record/study_lines.hpp"

#include "reports/record/json_reader.hpp"
#include "reports/record/text_file.hpp"

namespace foretell {
namespace {

constexpr const char* kStart = R"({"study":)";

void add_line(const std::string& text, const std::string& where, StudyLines& study) {
  const RecordJson json = RecordJson::parse(text, nullptr, false);
  if (json.is_discarded()) {
    throw UserError(where + ": a point of a study, but not whole; write the file again");
  }
  const RecordReader line(json, where);
  std::string status;
  std::string message;
  bool inside = true;
  line.get("study", study.name);
  line.get("status", status);
  line.get_optional("message", message);
  line.get_optional("inside", inside);
  ++study.points;
  if (line.has("record")) {
    study.records.push_back(run_record_from_json(json.at("record").dump(), where));
    if (!inside) ++study.outside;
  } else if (status == "skipped") {
    ++study.skipped;
  } else {
    ++study.failures[message];
  }
  if (!study.keys.empty() || !line.has("values")) return;
  for (const auto& [key, value] : json.at("values").items()) study.keys.push_back(key);
}

}  // namespace

bool is_study_line(const std::string& line) { return line.rfind(kStart, 0) == 0; }

StudyLines read_study_lines(const std::string& path) {
  InputFile file(path);
  StudyLines study;
  std::string text;
  for (int number = 1; file.read_line(text); ++number) {
    if (text.find_first_not_of(" \t\r") == std::string::npos) continue;
    add_line(text, path + ":" + std::to_string(number), study);
  }
  return study;
}

}  // namespace foretell
