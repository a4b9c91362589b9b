#include "reports/render/folded_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "model/base/text.hpp"

namespace foretell {
namespace {

using Words = std::vector<std::string>;
constexpr std::size_t kFewestWords = 4;  // of a note that is more than its word that differs

// Notes that are equal but for the word at `place`.
struct AlikeNotes {
  Words words;  // of the first
  std::optional<std::size_t> place;
  std::vector<std::string> differing;
};

// Takes a note that differs in one word from the first of the group: in the word that those before
// it differed in, if there were any.
bool takes(AlikeNotes& alike, const Words& words) {
  if (words.size() != alike.words.size() || words.size() < kFewestWords) return false;
  const auto [mine, other] =
      std::mismatch(alike.words.begin(), alike.words.end(), words.begin(), words.end());
  if (mine == alike.words.end() || !std::equal(mine + 1, alike.words.end(), other + 1)) {
    return false;
  }
  const auto place = static_cast<std::size_t>(mine - alike.words.begin());
  if (alike.place.value_or(place) != place) return false;
  if (!alike.place) alike.differing.push_back(*mine);
  alike.place = place;
  alike.differing.push_back(*other);
  return true;
}

// "bf16", "int8", or with one comma after them all "bf16," and "int8,".
std::string in_a_row(std::vector<std::string> words) {
  constexpr std::string_view kMarks = ",;:.";
  const char mark = words.front().empty() ? ' ' : words.front().back();
  const bool is_marked = kMarks.find(mark) != std::string_view::npos &&
                         std::all_of(words.begin(), words.end(), [mark](const std::string& word) {
                           return !word.empty() && word.back() == mark;
                         });
  if (!is_marked) return join(words, ", ");
  for (std::string& word : words) word.pop_back();
  return join(words, ", ") + mark;
}

std::vector<std::string> listed(const std::vector<std::string>& notes) {
  std::vector<AlikeNotes> groups;
  for (const std::string& note : notes) {
    Words words = split(note, ' ');
    const bool is_taken = std::any_of(groups.begin(), groups.end(),
                                      [&](AlikeNotes& group) { return takes(group, words); });
    if (!is_taken) groups.push_back({std::move(words), {}, {}});
  }
  std::vector<std::string> shown;
  for (AlikeNotes& group : groups) {
    if (group.place) group.words[*group.place] = in_a_row(std::move(group.differing));
    shown.push_back(join(group.words, " "));
  }
  return shown;
}

std::vector<std::string> factors_in_one(const std::vector<std::string>& notes) {
  constexpr std::string_view kFactors = ": factors of ";
  constexpr std::string_view kOn = " on ";
  std::vector<std::string> shown;
  std::set<std::string> kinds;
  std::set<std::string> chips;
  std::size_t folded = 0;
  std::size_t place = 0;
  for (const std::string& note : notes) {
    const std::size_t factors = note.find(kFactors);
    const std::size_t on = note.rfind(kOn);
    if (factors == std::string::npos || on == std::string::npos || on < factors) {
      shown.push_back(note);
      continue;
    }
    if (folded++ == 0) place = shown.size();
    kinds.insert(note.substr(0, factors));
    chips.insert(note.substr(on + kOn.size()));
  }
  if (folded < 2) return notes;
  shown.insert(shown.begin() + static_cast<std::ptrdiff_t>(place),
               fmt::format("kernels with factors of another chip or data type, of {} ({}); -v "
                           "lists them",
                           join({chips.begin(), chips.end()}, ", "),
                           join({kinds.begin(), kinds.end()}, ", ")));
  return shown;
}

}  // namespace

std::vector<std::string> folded_notes(const std::vector<std::string>& notes) {
  return listed(factors_in_one(notes));
}

}  // namespace foretell
