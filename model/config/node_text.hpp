// Texts of YAML nodes. UserErrors carry "file:line: <path>: " in front; `path` names the node
// there.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/config/document.hpp"

namespace foretell {

// The items of a list; none for what is no list.
std::vector<std::string> item_texts(const Node& list, std::string_view path);

// A text, or the items of a list of them.
std::vector<std::string> texts_at(const Node& node, std::string_view path);

// What a map has at a key; "" where it has nothing.
std::string text_or_none(const Node& map, std::string_view key);

}  // namespace foretell
