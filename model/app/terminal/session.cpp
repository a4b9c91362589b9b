#include "model/app/terminal/session.hpp"

#include <algorithm>
#include <ostream>

#include "reports/render/folded_notes.hpp"

namespace foretell {

void Session::say(std::string_view message) const {
  if (!quiet && messages != nullptr) *messages << message << '\n';
}

void Session::detail(std::string_view message) const {
  if (verbose && !quiet && messages != nullptr) *messages << message << '\n';
}

void Session::list_notes(const std::vector<std::string>& notes) const {
  const std::vector<std::string> shown = folded_notes(notes);
  for (const std::string& note : notes) {
    if (std::find(shown.begin(), shown.end(), note) == shown.end()) detail("note: " + note);
  }
}

}  // namespace foretell
