#include "model/base/text.hpp"

#include <algorithm>

namespace foretell {

namespace {

constexpr std::string_view kWhiteSpace = " \t\r\n\f\v";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = lower(c);
  return result;
}

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kWhiteSpace);
  if (first == std::string_view::npos) return {};
  const std::size_t last = text.find_last_not_of(kWhiteSpace);
  return text.substr(first, last - first + 1);
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end == std::string_view::npos ? end : end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string result;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) result += separator;
    result += part;
  }
  return result;
}

std::string with_short_words(std::string_view text) {
  constexpr std::size_t kLongest = 500;
  constexpr std::size_t kKept = 60;
  constexpr std::string_view kSpaces = " \n\t";
  std::string result;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kSpaces), text.size());
    if (end > kLongest) {
      std::size_t kept = kKept;
      while ((static_cast<unsigned char>(text[kept]) & 0xC0U) == 0x80U)
        --kept;  // inside of a letter
      result.append(text.substr(0, kept)).append("… (" + std::to_string(end) + " letters)");
    } else {
      result.append(text.substr(0, end));
    }
    const std::size_t next = std::min(text.find_first_not_of(kSpaces, end), text.size());
    result.append(text.substr(end, next - end));
    text.remove_prefix(next);
  }
  return result;
}

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.size() >= suffix.size() && text.substr(text.size() - suffix.size()) == suffix;
}

}  // namespace foretell
