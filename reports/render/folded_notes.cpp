#include "reports/render/folded_notes.hpp"

#include <fmt/format.h>

#include <set>
#include <string_view>

#include "model/base/text.hpp"

namespace foretell {

std::vector<std::string> folded_notes(const std::vector<std::string>& notes) {
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

}  // namespace foretell
