#include "model/app/request/resolve/request_fields.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "model/app/request/resolve/distribution_text.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"
#include "model/base/text.hpp"
#include "reports/record/csv.hpp"

namespace foretell {

std::string key_of(const RequestField& field) {
  std::string key = field.option;
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::string parse_choice(const RequestField& field, std::string_view text) {
  const std::string word(trim(text));
  if (std::find(field.choices.begin(), field.choices.end(), word) == field.choices.end())
    throw unknown_name(field.option, word, field.choices);
  return word;
}

std::int64_t parse_count(std::string_view name, std::string_view text, std::int64_t low,
                         std::int64_t high) {
  const std::string_view word = trim(text);
  const std::optional<double> number = to_number(word);
  const bool good = number && std::trunc(*number) == *number &&
                    *number >= static_cast<double>(low) && *number <= static_cast<double>(high);
  if (!good) {
    throw UserError(std::string(name) + ": '" + std::string(word) +
                    "' is not allowed; it must be a whole number from " + std::to_string(low) +
                    " to " + std::to_string(high));
  }
  return static_cast<std::int64_t>(*number);
}

void set_length(Request& request, const RequestField& field, std::string_view name,
                std::string_view text) {
  if (!field.varies || !is_distribution(text)) {
    set_count(field, request, parse_count(name, text, field.low, field.high));
    return;
  }
  const Distribution lengths = parse_distribution(name, text, field.low, field.high);
  set_count(field, request, static_cast<std::int64_t>(lengths.highest()));
  request.distributions[field.option] = std::string(trim(text));
}

std::pair<std::string, std::string> parse_pair(std::string_view option, std::string_view text,
                                               std::string_view what) {
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw UserError(std::string(option) + ": '" + std::string(text) +
                    "' is not allowed; it must be NAME=" + std::string(what));
  }
  return {std::string(trim(text.substr(0, equals))), std::string(trim(text.substr(equals + 1)))};
}

void add_dimension(Request& request, std::string_view text) {
  const auto [name, size] = parse_pair("--dim", text, "SIZE");
  const std::string option = "dim " + name;
  const Distribution sizes = parse_distribution("--" + option, size, 1, kMaxDimension);
  if (!request.dimensions.emplace(name, static_cast<std::int64_t>(sizes.highest())).second)
    throw UserError("--" + option + ": is given twice");
  if (is_distribution(size)) request.distributions[option] = size;
}

double parse_positive(std::string_view name, std::string_view text, double high) {
  const std::string_view word = trim(text);
  const std::optional<double> number = to_number(word);
  if (!number || !(*number > 0) || !(*number <= high)) {
    throw UserError(std::string(name) + ": '" + std::string(word) +
                    "' is not allowed; it must be a number above 0 and up to " + to_text(high));
  }
  return *number;
}

namespace {

void check_probability(const std::string& option, const std::string& text) {
  const std::optional<double> number = to_number(text);
  if (number && *number >= 0 && *number <= 1) return;
  throw UserError(option + ": '" + text +
                  "' is not allowed; a probability is a number from 0 to 1");
}

// NAME=VALUE of texts: a probability, or a number that may vary.
void add_pair(Request& request, const RequestField& field, std::string_view text) {
  if (std::holds_alternative<SizeMap Scenario::*>(field.member))
    return add_dimension(request, text);
  const std::string option = "--" + std::string(field.option);
  const auto [name, value] = parse_pair(option, text, field.type);
  const std::string named = option + " " + name;
  if (field.high == 1) {
    check_probability(named, value);
  } else {
    parse_distribution(named, value, field.low, field.high);
  }
  TextMap& pairs = request.*std::get<TextMap Scenario::*>(field.member);
  if (!pairs.emplace(name, value).second) throw UserError(named + ": is given twice");
}

bool parse_flag(std::string_view name, std::string_view value) {
  const std::string word = to_lower(trim(value));
  if (word == "yes" || word == "true") return true;
  if (word == "no" || word == "false") return false;
  throw UserError(std::string(name) + ": '" + std::string(value) +
                  "' is not allowed; it must be yes or no");
}

struct WordKey {
  const char* key;
  std::string Request::*member;
};

constexpr WordKey kWordKeys[] = {{"on", &Request::system},
                                 {"workload", &Request::workload},
                                 {"dtype", &Request::dtype},
                                 {"factors", &Request::factors}};
constexpr const char* kSeed = "seed";

// Names lose "dim ", as their field says it.
void put_varying(const Request& request, nlohmann::ordered_json& json) {
  constexpr std::string_view kNamedSize = "dim ";
  for (const auto& [name, text] : request.distributions) {
    if (starts_with(name, kNamedSize)) {
      json["dim"][name.substr(kNamedSize.size())] = text;
    } else {
      json[key_of(request_field(name))] = text;
    }
  }
}

}  // namespace

void set_field(Request& request, const RequestField& field, std::string_view name,
               std::string_view text) {
  switch (field.kind()) {
    case FieldKind::kCount:
      return set_length(request, field, name, text);
    case FieldKind::kNumber:
      request.*std::get<double Scenario::*>(field.member) =
          parse_positive(name, text, static_cast<double>(field.high));
      return;
    case FieldKind::kFlag:
      request.*std::get<bool Scenario::*>(field.member) = parse_flag(name, text);
      return;
    case FieldKind::kText:
      request.*std::get<std::string Scenario::*>(field.member) =
          field.choices.empty() ? std::string(trim(text)) : parse_choice(field, text);
      return;
    case FieldKind::kPairs:
      for (const std::string& pair : split(text, ';')) add_pair(request, field, trim(pair));
      return;
  }
}

std::vector<std::string> request_keys() {
  std::vector<std::string> keys;
  for (const WordKey& key : kWordKeys) keys.emplace_back(key.key);
  for (const RequestField& field : request_fields()) {
    if (*field.option != '\0') keys.push_back(key_of(field));
  }
  keys.emplace_back(kSeed);
  return keys;
}

bool set_key(Request& request, const std::string& key, std::string_view value) {
  for (const WordKey& word : kWordKeys) {
    if (key != word.key) continue;
    request.*word.member = std::string(trim(value));
    return true;
  }
  for (const RequestField& field : request_fields()) {
    if (*field.option == '\0' || key != key_of(field)) continue;
    set_field(request, field, key, value);
    return true;
  }
  if (key != kSeed) return false;
  request.seed = static_cast<std::uint64_t>(parse_count(key, value, 0, kMaxSeed));
  return true;
}

std::string request_json(const Request& request) {
  nlohmann::ordered_json json;
  for (const WordKey& word : kWordKeys) {
    const std::string& value = request.*word.member;
    if (!value.empty()) json[word.key] = value;
  }
  for (const RequestField& field : request_fields()) {
    if (*field.option == '\0' || !is_stated(field, request)) continue;
    std::visit([&](auto member) { json[key_of(field)] = request.*member; }, field.member);
  }
  put_varying(request, json);
  for (const auto& [key, text] : request.service) json[key] = text;
  if (request.seed != 0) json[kSeed] = request.seed;
  if (!request.set.empty()) json["set"] = request.set;
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace foretell
