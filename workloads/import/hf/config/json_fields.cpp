#include "workloads/import/hf/config/json_fields.hpp"

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

constexpr std::size_t kMaxBytes = std::size_t{32} << 20U;  // published ones have 4 MB at most

constexpr std::string_view kWhatItIs =
    "a config.json is one JSON object, as published with the network";

// The library's message without its "[json.exception…]" prefix and file-less "parse error".
std::string syntax_message(const json::exception& error) {
  std::string message = error.what();
  const std::size_t start = message.find("] ");
  return start == std::string::npos ? message : message.substr(start + 2);
}

// Refuses a second occurrence of a key within one object, which the library would let win silently.
class DuplicateKeys : public nlohmann::json_sax<json> {
 public:
  explicit DuplicateKeys(const std::string& file) : file_(file) {}
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override {
    open_.emplace_back();
    return true;
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool key(string_t& name) override {
    if (open_.back().insert(name).second) return true;
    throw UserError(file_ + ": key '" + name + "' stands twice: keep one of them");
  }
  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;  // said when it is parsed
  }

 private:
  const std::string& file_;
  std::vector<std::set<std::string>> open_;
};

// Python writes NaN and Infinity where JSON has no word for them: null here, outside of strings.
std::string without_python_numbers(std::string text) {
  bool quoted = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quoted && c == '\\') {
      ++at;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == 'N' || c == 'I' || c == '-')) {
      for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
        if (text.compare(at, word.size(), word) != 0) continue;
        text.replace(at, word.size(), "null");
        break;
      }
    }
  }
  return text;
}

json parse_json(const std::string& text, const std::string& file) {
  try {
    const std::string plain = without_python_numbers(text);
    DuplicateKeys keys(file);
    json::sax_parse(plain, &keys);
    return json::parse(plain);
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

bool is_off(const json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_number()) return value.get<double>() == 0;
  return value.is_string() ? value.get_ref<const std::string&>().empty() : value.empty();
}

}  // namespace

JsonFields::JsonFields(std::string text, std::string file)
    : text_(std::move(text)), file_(std::move(file)) {
  if (text_.find_first_not_of(" \t\r\n") == std::string::npos) {
    throw UserError(file_ + ": the file is empty; " + std::string(kWhatItIs));
  }
  if (text_.size() > kMaxBytes) {
    throw UserError(file_ + ": has " + std::to_string(text_.size() >> 20U) +
                    " MiB; a config.json has " + std::to_string(kMaxBytes >> 20U) +
                    " MiB at most: is it a file of weights?");
  }
  object_ = is_yaml(file_) ? to_json(parse_document(text_, file_)) : parse_json(text_, file_);
  if (!object_.is_object()) {
    throw UserError(file_ + ": holds no object of fields; " + std::string(kWhatItIs));
  }
}

JsonFields::JsonFields(std::string text, std::string file, json object, std::size_t from,
                       std::string path)
    : text_(std::move(text)),
      file_(std::move(file)),
      object_(std::move(object)),
      from_(from),
      path_(std::move(path)) {}

std::string JsonFields::path_of(std::string_view key) const { return path_ + std::string(key); }

JsonFields JsonFields::inside(std::string_view key) {
  const json* value = find(key);
  const bool is_object = value != nullptr && value->is_object();
  if (!is_object) {
    problem(key, (value == nullptr ? absent(key) : "is " + shown(key)) +
                     "; it must be an object of fields");
  }
  const std::size_t at = place_of(text_, key, from_);
  return {text_, file_, is_object ? *value : json::object(), at == std::string::npos ? 0 : at,
          path_of(key) + "."};
}

JsonFields JsonFields::part(std::string_view key) const {
  const json* value = find(key);
  return {"", file_, value != nullptr && value->is_object() ? *value : json::object(), 0,
          path_of(key) + "."};
}

void JsonFields::take_problems(const JsonFields& inner) {
  problems_.insert(problems_.end(), inner.problems_.begin(), inner.problems_.end());
}

const json* JsonFields::find(std::string_view key) const {
  const auto found = object_.find(std::string(key));
  if (found != object_.end()) asked_.emplace(key);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::string JsonFields::shown(std::string_view key) const {
  const json* value = find(key);
  if (value == nullptr) return "null";
  constexpr std::size_t kMaxShown = 200;
  std::string text = value->dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() <= kMaxShown ? text : text.substr(0, kMaxShown) + "…";
}

// NaN and Infinity stand as null in what was read.
std::string JsonFields::absent(std::string_view key) const {
  return object_.contains(std::string(key)) ? "has no value (null, NaN or Infinity)" : "is missing";
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
  const std::string state = value == nullptr ? absent(key) : "is " + shown(key);
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
  constexpr std::size_t kMaxEntries = 16;
  if (value != nullptr && value->is_array() && !value->empty() && value->size() <= kMaxEntries &&
      std::all_of(value->begin(), value->end(), is_size))
    return value->get<std::vector<std::int64_t>>();
  problem(key, (value == nullptr ? absent(key) : "is " + shown(key)) +
                   "; it must be a list of up to " + std::to_string(kMaxEntries) +
                   " integers from 1 to " + std::to_string(most));
  return {1};
}

double JsonFields::share(std::string_view key) {
  const json* value = find(key);
  if (value != nullptr && value->is_number()) {
    const double given = value->get<double>();
    if (given > 0 && given <= 1) return given;
  }
  const std::string state = value == nullptr ? absent(key) : "is " + shown(key);
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
  problem(key, (value == nullptr ? absent(key) : "is " + shown(key)) + "; it must be a list of " +
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

double JsonFields::number_or(std::string_view key, double when_absent) {
  const json* value = find(key);
  if (value == nullptr) return when_absent;
  if (value->is_number()) return value->get<double>();
  problem(key, "is " + shown(key) + "; it must be a number");
  return when_absent;
}

std::string JsonFields::text_or(std::string_view key, const std::string& when_absent) {
  return has(key) ? text(key) : when_absent;
}

std::vector<std::int64_t> JsonFields::integers(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) return {};
  std::vector<std::int64_t> numbers;
  for (const json& entry : *value) {
    const bool counts = value->is_array() && (entry.is_boolean() || entry.is_number_integer());
    if (!counts) {
      problem(key, "is " + shown(key) + "; it must be a list of whole numbers");
      return {};
    }
    numbers.push_back(entry.is_boolean() ? static_cast<std::int64_t>(entry.get<bool>())
                                         : entry.get<std::int64_t>());
  }
  return numbers;
}

std::vector<JsonFields> JsonFields::items(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) return {};
  std::vector<JsonFields> items;
  for (const json& entry : *value) {
    if (!value->is_array() || !entry.is_object()) {
      problem(key, "must be a list of objects");
      return {};
    }
    items.push_back(JsonFields("", file_, entry, 0, path_of(key) + "."));
  }
  return items;
}

bool JsonFields::is_list(std::string_view key) const {
  const json* value = find(key);
  return value != nullptr && value->is_array();
}

bool JsonFields::is_object(std::string_view key) const {
  const json* value = find(key);
  return value != nullptr && value->is_object();
}

bool JsonFields::has_object(std::string_view key) {
  if (is_on(key) && !is_object(key))
    problem(key, "is " + shown(key) + "; it must be an object of fields");
  return is_object(key);
}

bool JsonFields::is_text(std::string_view key) const {
  const json* value = find(key);
  return value != nullptr && value->is_string();
}

bool JsonFields::is_on(std::string_view key) const {
  const json* value = find(key);
  return value != nullptr && !is_off(*value);
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

std::vector<bool> JsonFields::flags(std::string_view key) {
  const json* value = find(key);
  if (value == nullptr) return {};
  const auto is_flag = [](const json& entry) { return entry.is_boolean(); };
  if (value->is_array() && std::all_of(value->begin(), value->end(), is_flag))
    return value->get<std::vector<bool>>();
  problem(key, "is " + shown(key) + "; it must be a list of true and false");
  return {};
}

std::vector<std::string> JsonFields::names() const {
  std::vector<std::string> names;
  for (const auto& entry : object_.items()) names.push_back(entry.key());
  return names;
}

std::vector<std::string> JsonFields::unread() const {
  std::vector<std::string> unread;
  for (const auto& entry : object_.items()) {
    if (!is_off(entry.value()) && asked_.count(entry.key()) == 0) unread.push_back(entry.key());
  }
  std::sort(unread.begin(), unread.end());
  return unread;
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
  std::string problem = place + ": " + path_of(key) + ": " + message;
  const bool is_said = !problems_.empty() && problems_.back() == problem;
  if (!is_said) problems_.push_back(std::move(problem));
}

void JsonFields::check() const {
  if (problems_.empty()) return;
  std::string message;
  for (const std::string& problem : problems_) message += (message.empty() ? "" : "\n") + problem;
  throw UserError(message);
}

}  // namespace foretell
