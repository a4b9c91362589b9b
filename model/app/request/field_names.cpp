#include "model/app/request/field_names.hpp"

#include <cctype>
#include <string_view>

#include "model/app/request/request_fields.hpp"

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
  }
  return text;
}

}  // namespace foretell
