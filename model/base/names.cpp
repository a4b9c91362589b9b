#include "model/base/names.hpp"

#include <algorithm>
#include <cctype>

#include "model/base/text.hpp"

namespace foretell {
namespace {

using Runs = std::vector<std::string>;

bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

// The names whose runs `is_meant`, but for other spellings of one before.
template <typename Meant>
std::vector<std::string> each_spelt_once(const std::vector<std::string>& names,
                                         const Meant& is_meant) {
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const bool is_known =
        std::any_of(found.begin(), found.end(),
                    [&name](const std::string& other) { return is_spelt_like(name, other); });
    if (!is_known && is_meant(runs_of(name))) found.push_back(name);
  }
  return found;
}

}  // namespace

std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char letter : to_lower(name)) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      words.back() += letter;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

std::vector<std::string> runs_of(std::string_view name) {
  std::vector<std::string> runs;
  for (const std::string& word : words_of(name)) {
    for (std::size_t i = 0; i < word.size(); ++i) {
      if (i == 0 || is_digit(word[i]) != is_digit(word[i - 1])) runs.emplace_back();
      runs.back() += word[i];
    }
  }
  return runs;
}

bool is_spelt_like(std::string_view given, std::string_view name) {
  const std::vector<std::string> runs = runs_of(given);
  return !runs.empty() && runs == runs_of(name);
}

std::string name_spelt(std::string_view given, const std::vector<std::string>& names) {
  const std::string lower = to_lower(given);
  for (const std::string& name : names) {
    if (to_lower(name) == lower) return name;
  }
  const Runs runs = runs_of(given);
  std::string spelt;
  for (const std::string& name : names) {
    if (name == spelt || runs.empty() || runs != runs_of(name)) continue;
    if (!spelt.empty()) return "";
    spelt = name;
  }
  return spelt;
}

std::vector<std::string> names_begun(std::string_view given,
                                     const std::vector<std::string>& names) {
  constexpr std::size_t kLeast = 2;  // letters and digits that tell something
  const Runs runs = runs_of(given);
  if (join(runs, "").size() < kLeast) return {};
  return each_spelt_once(names, [&runs](const Runs& whole) {
    return whole.size() >= runs.size() && std::equal(runs.begin(), runs.end(), whole.begin());
  });
}

std::vector<std::string> names_skipped_to(std::string_view given,
                                          const std::vector<std::string>& names) {
  constexpr std::size_t kLeast = 3;  // runs, of which the first is the kind
  const Runs runs = runs_of(given);
  if (runs.size() < kLeast) return {};
  return each_spelt_once(names, [&runs](const Runs& whole) {
    if (whole.empty() || whole.front() != runs.front()) return false;
    std::size_t next = 0;
    for (const std::string& run : whole) {
      if (next < runs.size() && run == runs[next]) ++next;
    }
    return next == runs.size();
  });
}

}  // namespace foretell
