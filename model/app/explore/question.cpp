#include "model/app/explore/question.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "model/app/request/resolve/request_fields.hpp"
#include "model/base/errors.hpp"
#include "reports/record/json_text.hpp"

namespace foretell {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxOptions = 256;
constexpr std::size_t kMaxRecords = 16;

const std::vector<std::string> kCommands = {"run", "serve", "explain"};
// The options of a service, beside those of one call.
const std::vector<std::string> kServeOptions = {"concurrency", "rate", "requests",
                                                "engine",      "slo",  "dp"};

std::vector<std::string> known_options() {
  std::vector<std::string> names = kServeOptions;
  for (std::string key : request_keys()) {
    std::replace(key.begin(), key.end(), '_', '-');
    if (key != "factors" && key != "seed") names.push_back(std::move(key));
  }
  names.emplace_back("set");
  return names;
}

Json parsed(const std::string& body) {
  Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) throw UserError("the question is not a JSON object");
  return json;
}

const Json& list_in(const Json& json, const char* key, std::size_t most) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_array() || found->empty() || found->size() > most) {
    throw UserError(fmt::format("the question needs a list '{}' of 1 to {} entries", key, most));
  }
  return *found;
}

}  // namespace

std::vector<std::string> question_words(std::string_view command, const std::string& body) {
  if (std::find(kCommands.begin(), kCommands.end(), command) == kCommands.end()) {
    throw unknown_name("question", command, kCommands);
  }
  const Json json = parsed(body);
  const std::vector<std::string> known = known_options();
  std::vector<std::string> words = {std::string(command), "--format=json", "-q"};
  if (command == "explain") words.emplace_back("--sensitivity");
  for (const Json& option : list_in(json, "options", kMaxOptions)) {
    if (!option.is_array() || option.size() != 2 || !option[0].is_string() ||
        !option[1].is_string()) {
      throw UserError("an option of the question is not [name, text]");
    }
    const std::string name = option[0];
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw unknown_name("option", name, known);
    }
    words.push_back(fmt::format("--{}={}", name, std::string(option[1])));
  }
  return words;
}

std::string records_to_report(const std::string& body) {
  const Json json = parsed(body);
  std::string lines;
  for (const Json& record : list_in(json, "records", kMaxRecords)) {
    if (!record.is_string() || !Json::accept(std::string(record))) {
      throw UserError("a record of the question is not the text of a JSON object");
    }
    lines += Json::parse(std::string(record)).dump() + '\n';
  }
  return lines;
}

std::string error_json(std::string_view message) {
  return "{\"error\":" + json_text(message) + "}\n";
}

std::string choices_json(const ExploreChoices& choices) {
  Json json = {{"systems", choices.systems},   {"workloads", choices.workloads},
               {"dtypes", choices.dtypes},     {"on", choices.system},
               {"workload", choices.workload}, {"dtype", choices.dtype}};
  std::string text = json.dump(-1, ' ', true);
  // Inside an element of the page nothing may end it.
  for (std::size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

}  // namespace foretell
