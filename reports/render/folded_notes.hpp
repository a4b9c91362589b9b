// Notes for people: what is of a kind in one line.
#pragma once

#include <string>
#include <vector>

namespace foretell {

// Several notes "KIND: factors of TABLE on CHIP" are one that names the kinds and the chips, and
// notes that differ in one word are one that lists it; the others stay as they are, in order.
// Records keep every note.
std::vector<std::string> folded_notes(const std::vector<std::string>& notes);

}  // namespace foretell
