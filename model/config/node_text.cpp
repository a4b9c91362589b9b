#include "model/config/node_text.hpp"

namespace foretell {

std::vector<std::string> item_texts(const Node& list, std::string_view path) {
  std::vector<std::string> texts;
  for (const Node& item : list.items) texts.push_back(item.as_text(path));
  return texts;
}

std::vector<std::string> texts_at(const Node& node, std::string_view path) {
  if (node.is_list()) return item_texts(node, path);
  return {node.as_text(path)};
}

std::string text_or_none(const Node& map, std::string_view key) {
  const Node* found = map.find(key);
  return found == nullptr ? "" : found->as_text(key);
}

}  // namespace foretell
