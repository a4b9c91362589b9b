#include "model/app/request/resolve/field_names.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "model/app/request/resolve/request_fields.hpp"

namespace foretell {
namespace {

constexpr std::string_view kDashes = "--";

bool is_part_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
}

// "input-len" of "--input-len", and of "input-len" itself; a plain word names no option.
std::string option_in(std::string_view word) {
  if (word.substr(0, kDashes.size()) == kDashes) return std::string(word.substr(kDashes.size()));
  return word.find('-') == std::string_view::npos ? "" : std::string(word);
}

// What stands after an option at `end`: a word with a digit in it, as counts, types and systems
// are; "" of other words ("lower --input-len or --output-len").
std::string value_at(const std::string& message, std::size_t end) {
  if (end >= message.size() || message[end] != ' ') return "";
  const std::string word =
      message.substr(end + 1, message.find_first_of(" ,;:()", end + 1) - end - 1);
  const bool has_digit =
      std::any_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
  return has_digit ? word : "";
}

}  // namespace

FieldNames column_names_of_fields() {
  FieldNames names = {{"on", "system"}, {"workload", "workload"}, {"dtype", "compute_dtype"}};
  for (const RequestField& field : request_fields()) {
    if (*field.option != '\0')
      names[field.option] = *field.column == '\0' ? field.key : field.column;
  }
  return names;
}

FieldNames key_names_of_fields() {
  FieldNames names = {{"on", "on"}, {"workload", "workload"}, {"dtype", "dtype"}, {"set", "set"}};
  for (const RequestField& field : request_fields()) {
    if (*field.option != '\0') names[field.option] = key_of(field);
  }
  return names;
}

std::string with_names(const std::string& message, const FieldNames& names) {
  std::string text;
  bool is_command = false;
  char before = ' ';  // the word
  for (std::size_t at = 0; at < message.size();) {
    std::size_t end = at;
    while (end < message.size() && is_part_of_word(message[end])) ++end;
    if (end == at) {
      before = message[at];
      if (before == '`') is_command = !is_command;
      text += before;
      ++at;
      continue;
    }
    const std::string word = message.substr(at, end - at);
    const bool is_file =
        before == '/' || before == '.' ||
        (end + 1 < message.size() && message[end] == '.' && is_part_of_word(message[end + 1]));
    const auto found = is_command || is_file ? names.end() : names.find(option_in(word));
    text += found == names.end() ? word : found->second;
    at = end;
    const std::string value =
        found == names.end() || word == option_in(word) ? std::string() : value_at(message, end);
    if (value.empty()) continue;
    text += " = " + value;
    at += 1 + value.size();
    if (message.substr(at, 1 + kDashes.size()) == " --") text += ',';
  }
  return text;
}

}  // namespace foretell
