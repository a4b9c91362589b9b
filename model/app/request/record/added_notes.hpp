// Notes of several parts of an answer, each said once.
#pragma once

#include <string>
#include <vector>

namespace foretell {

// Adds those that are not among `notes` yet.
void add_new(const std::vector<std::string>& more, std::vector<std::string>& notes);

}  // namespace foretell
