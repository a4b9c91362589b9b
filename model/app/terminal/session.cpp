#include "model/app/terminal/session.hpp"

#include <ostream>

namespace foretell {

void Session::say(std::string_view message) const {
  if (!quiet && messages != nullptr) *messages << message << '\n';
}

void Session::detail(std::string_view message) const {
  if (verbose && !quiet && messages != nullptr) *messages << message << '\n';
}

void Session::list_notes(const std::vector<std::string>& notes) const {
  for (const std::string& note : notes) detail("note: " + note);
}

}  // namespace foretell
