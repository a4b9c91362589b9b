// Small text helpers. ASCII only: names, units and keys of this project are ASCII.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretell {

std::string to_lower(std::string_view text);

// Without white space at both ends.
std::string_view trim(std::string_view text);

// The pieces between separators, empty ones included: split("a..b", '.') is {"a", "", "b"}.
std::vector<std::string> split(std::string_view text, char separator);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

// The text with every word of more than 500 letters cut to its first 60: "aaa… (3000 letters)".
// An error names what was given, it does not print it whole.
std::string with_short_words(std::string_view text);

bool starts_with(std::string_view text, std::string_view prefix);
bool ends_with(std::string_view text, std::string_view suffix);

}  // namespace foretell
