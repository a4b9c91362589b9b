#include "model/app/request/record/added_notes.hpp"

#include <algorithm>

namespace foretell {

void add_new(const std::vector<std::string>& more, std::vector<std::string>& notes) {
  for (const std::string& note : more) {
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
}

}  // namespace foretell
