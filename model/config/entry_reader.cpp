#include "model/config/entry_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/config/node_text.hpp"

namespace foretell {

std::string EntryReader::at(const char* key) const {
  return path_.empty() ? key : path_ + "." + key;
}

void EntryReader::refuse(const Node& node, const char* key, const std::string& message) const {
  throw UserError(fmt::format("{}: {}: {}", node.where(), at(key), message));
}

const Node* EntryReader::node(const char* key) {
  known_.emplace_back(key);
  return entry_.find(key);
}

const std::vector<Node>& EntryReader::items(const char* key) {
  static const std::vector<Node> kNone;
  const Node* found = node(key);
  if (found == nullptr) return kNone;
  if (!found->is_list())
    refuse(*found, key, fmt::format("expected a list, here is {}", describe(found->kind)));
  return found->items;
}

void EntryReader::number(const char* key, double& value) {
  const Node* found = node(key);
  if (found == nullptr) return;
  value = number_at(*found, at(key));
  if (value < 0) refuse(*found, key, "is below 0");
}

void EntryReader::number(const char* key, double& value, double min, double max) {
  if (const Node* found = node(key)) value = number_at(*found, at(key), min, max);
}

void EntryReader::numbers(const char* key, std::vector<double>& values) {
  const Node* found = node(key);
  if (found == nullptr) return;
  values.clear();
  for (const Node& item : found->items) {
    const double value = number_at(item, at(key));
    if (!(value > (values.empty() ? 0 : values.back()))) {
      refuse(item, key, "is not above the one before it");
    }
    values.push_back(value);
  }
  if (values.empty()) refuse(*found, key, "is no list of numbers such as [64, 128, 256]");
}

void EntryReader::whole(const char* key, std::int64_t& value, std::int64_t min, std::int64_t max) {
  if (const Node* found = node(key)) value = found->as_integer(at(key), min, max);
}

void EntryReader::whole(const char* key, int& value, std::int64_t min, std::int64_t max) {
  if (const Node* found = node(key)) value = static_cast<int>(found->as_integer(at(key), min, max));
}

void EntryReader::flag(const char* key, bool& value) {
  const Node* found = node(key);
  if (found == nullptr) return;
  const std::string& text = found->as_text(at(key));
  if (text != "yes" && text != "no") {
    refuse(*found, key, "'" + text + "' is not allowed; write yes or no");
  }
  value = text == "yes";
}

void EntryReader::text(const char* key, std::string& value) {
  if (const Node* found = node(key)) value = found->as_text(at(key));
}

void EntryReader::texts(const char* key, std::vector<std::string>& values) {
  const Node* found = node(key);
  if (found == nullptr) return;
  values = texts_at(*found, at(key));
  if (values.empty()) refuse(*found, key, "is a list of one or more");
}

void EntryReader::one_of(const char* key, const std::vector<std::string>& known,
                         std::string& value) {
  text(key, value);
  const Node* found = entry_.find(key);
  if (found != nullptr && std::find(known.begin(), known.end(), value) == known.end())
    refuse(*found, key, unknown_name(key, value, known).what());
}

void EntryReader::finish() {
  std::sort(known_.begin(), known_.end());
  entry_.only_keys(known_, path_);
  for (const std::string& key : required_) entry_.required(key, path_);
}

}  // namespace foretell
