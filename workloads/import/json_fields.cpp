#include "workloads/import/json_fields.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <utility>

#include "model/base/errors.hpp"
#include "model/config/document.hpp"

namespace foretell {
namespace {

using nlohmann::json;

constexpr std::string_view kWhatItIs =
    "a config.json is one JSON object, as published with the network";

// The library's message without its "[json.exception…]" prefix and file-less "parse error".
std::string syntax_message(const json::exception& error) {
  std::string message = error.what();
  const std::size_t start = message.find("] ");
  return start == std::string::npos ? message : message.substr(start + 2);
}

// Refuses a second occurrence of a key within one object, which the library would let win silently.
class DuplicateKeys {
 public:
  explicit DuplicateKeys(const std::string& file) : file_(file) {}
  bool operator()(int, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) open_.emplace_back();
    if (event == json::parse_event_t::object_end) open_.pop_back();
    if (event == json::parse_event_t::key &&
        !open_.back().insert(value.get<std::string>()).second) {
      throw UserError(file_ + ": key '" + value.get<std::string>() +
                      "' stands twice: keep one of them");
    }
    return true;
  }

 private:
  const std::string& file_;
  std::vector<std::set<std::string>> open_;
};

json parse_json(const std::string& text, const std::string& file) {
  try {
    return json::parse(text, DuplicateKeys(file));
  } catch (const json::exception& error) {
    throw UserError(file + ": no valid JSON (truncated?): " + syntax_message(error));
  }
}

bool is_yaml(const std::string& file) {
  const std::string extension = std::filesystem::path(file).extension().string();
  return extension == ".yaml" || extension == ".yml";
}

// A scalar of YAML is what the same characters are in JSON, or else text.
json to_json(const Node& node) {
  json result;
  if (node.is_scalar()) {
    result = json::parse(node.text, nullptr, false);
    return result.is_primitive() && !result.is_discarded() ? result : json(node.text);
  }
  if (node.is_list()) {
    result = json::array();
    for (const Node& item : node.items) result.push_back(to_json(item));
  }
  if (node.is_map()) {
    result = json::object();
    for (const MapEntry& entry : node.entries) result[entry.key] = to_json(entry.value);
  }
  return result;
}

// The first mention of a key as a key from `from` on; npos: nowhere.
std::size_t place_of(const std::string& text, std::string_view key, std::size_t from) {
  for (std::size_t at = text.find(key, from); at != std::string::npos;
       at = text.find(key, at + 1)) {
    const bool starts = at == 0 || std::strchr(" \t\n\"'{,", text[at - 1]) != nullptr;
    const std::size_t end = text.find_first_not_of(" \t\"'", at + key.size());
    if (starts && end != std::string::npos && text[end] == ':') return at;
  }
  return std::string::npos;
}

}  // namespace

JsonFields::JsonFields(std::string text, std::string file)
    : text_(std::move(text)), file_(std::move(file)) {
  if (text_.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw UserError(file_ + ": the file is empty; " + std::string(kWhatItIs));
  }
  object_ = is_yaml(file_) ? to_json(parse_document(text_, file_)) : parse_json(text_, file_);
  if (!object_.is_object()) {
    throw UserError(file_ + ": holds no object of fields; " + std::string(kWhatItIs));
  }
}

JsonFields::JsonFields(std::string text, std::string file, json object, std::size_t from)
    : text_(std::move(text)), file_(std::move(file)), object_(std::move(object)), from_(from) {}

JsonFields JsonFields::inside(std::string_view key) {
  const json* value = find(key);
  const bool is_object = value != nullptr && value->is_object();
  if (!is_object) {
    problem(key, (value == nullptr ? "is missing" : "is " + shown(key)) +
                     "; it must be an object of fields");
  }
  const std::size_t at = place_of(text_, key, from_);
  return {text_, file_, is_object ? *value : json::object(), at == std::string::npos ? 0 : at};
}

void JsonFields::take_problems(const JsonFields& inner) {
  problems_.insert(problems_.end(), inner.problems_.begin(), inner.problems_.end());
}

const json* JsonFields::find(std::string_view key) const {
  const auto found = object_.find(std::string(key));
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::string JsonFields::shown(std::string_view key) const {
  const json* value = find(key);
  return value == nullptr ? "null" : value->dump(-1, ' ', false, json::error_handler_t::replace);
}

bool JsonFields::has(std::string_view key) const { return find(key) != nullptr; }

std::int64_t JsonFields::integer(std::string_view key, std::int64_t least, std::int64_t most) {
  const json* value = find(key);
  const auto in_range = [&](std::uint64_t given) {
    return given >= static_cast<std::uint64_t>(least) && given <= static_cast<std::uint64_t>(most);
  };
  if (value != nullptr && value->is_number_unsigned() && in_range(value->get<std::uint64_t>())) {
    return value->get<std::int64_t>();
  }
  const std::string state = value == nullptr ? "is missing" : "is " + shown(key);
  problem(key, state + "; it must be an integer from " + std::to_string(least) + " to " +
                   std::to_string(most));
  return least;
}

std::int64_t JsonFields::size(std::string_view key, std::int64_t most) {
  return integer(key, 1, most);
}

std::int64_t JsonFields::size_or(std::string_view key, std::int64_t most,
                                 std::int64_t when_absent) {
  return has(key) ? size(key, most) : when_absent;
}

std::int64_t JsonFields::count_or(std::string_view key, std::int64_t most,
                                  std::int64_t when_absent) {
  return has(key) ? integer(key, 0, most) : when_absent;
}

std::vector<std::int64_t> JsonFields::sizes(std::string_view key, std::int64_t most) {
  const json* value = find(key);
  const auto is_size = [most](const json& entry) {
    return entry.is_number_integer() && entry.get<std::int64_t>() >= 1 &&
           entry.get<std::int64_t>() <= most;
  };
  constexpr std::size_t kMostEntries = 16;
  if (value != nullptr && value->is_array() && !value->empty() && value->size() <= kMostEntries &&
      std::all_of(value->begin(), value->end(), is_size))
    return value->get<std::vector<std::int64_t>>();
  problem(key, (value == nullptr ? "is missing" : "is " + shown(key)) +
                   "; it must be a list of up to " + std::to_string(kMostEntries) +
                   " integers from 1 to " + std::to_string(most));
  return {1};
}

double JsonFields::share(std::string_view key) {
  const json* value = find(key);
  if (value != nullptr && value->is_number()) {
    const double given = value->get<double>();
    if (given > 0 && given <= 1) return given;
  }
  const std::string state = value == nullptr ? "is missing" : "is " + shown(key);
  problem(key, state + "; it must be a number above 0 and at most 1");
  return 1;
}

std::vector<double> JsonFields::shares(std::string_view key, std::size_t count) {
  const json* value = find(key);
  const auto is_share = [](const json& entry) {
    return entry.is_number() && entry.get<double>() >= 0 && entry.get<double>() <= 1;
  };
  if (value != nullptr && value->is_array() && value->size() == count &&
      std::all_of(value->begin(), value->end(), is_share))
    return value->get<std::vector<double>>();
  problem(key, (value == nullptr ? "is missing" : "is " + shown(key)) + "; it must be a list of " +
                   std::to_string(count) + " numbers from 0 to 1");
  return std::vector<double>(count, 0);
}

bool JsonFields::flag_or(std::string_view key, bool when_absent) {
  const json* value = find(key);
  if (value == nullptr) return when_absent;
  if (value->is_boolean()) return value->get<bool>();
  problem(key, "is " + shown(key) + "; it must be true or false");
  return when_absent;
}

std::string JsonFields::text(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) {
    problem(key, "is missing; it must be text");
    return "";
  }
  if (value->is_string()) return value->get<std::string>();
  problem(key, "is " + shown(key) + "; it must be text");
  return "";
}

std::vector<std::string> JsonFields::texts(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) return {};
  const auto is_text = [](const json& entry) { return entry.is_string(); };
  if (value->is_array() && std::all_of(value->begin(), value->end(), is_text)) {
    return value->get<std::vector<std::string>>();
  }
  problem(key, "is " + shown(key) + "; it must be a list of text");
  return {};
}

std::vector<std::string> JsonFields::names() const {
  std::vector<std::string> names;
  for (const auto& entry : object_.items()) names.push_back(entry.key());
  return names;
}

std::size_t JsonFields::entries(std::string_view key) const {
  const json* value = find(key);
  return value == nullptr || !value->is_structured() ? 0 : value->size();
}

void JsonFields::problem(std::string_view key, const std::string& message) {
  const std::size_t at = place_of(text_, key, from_);
  std::string place = file_;
  if (at != std::string::npos) {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(at);
    place += ":" + std::to_string(1 + std::count(text_.begin(), end, '\n'));
  }
  problems_.push_back(place + ": " + std::string(key) + ": " + message);
}

void JsonFields::check() const {
  if (problems_.empty()) return;
  std::string message;
  for (const std::string& problem : problems_) message += (message.empty() ? "" : "\n") + problem;
  throw UserError(message);
}

}  // namespace foretell
