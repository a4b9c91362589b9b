#include "hw/spec/shared/own_parents.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/data_folder.hpp"
#include "model/base/errors.hpp"
#include "model/base/text.hpp"

namespace foretell {
namespace {

namespace fs = std::filesystem;

// The text of an entry of nothing that a parent had: no further one needs to have it.
constexpr const char* kLeftOut = "~";

// Of parameters; a parameter with its source is a map, too.
bool is_group(const Node& node) {
  return node.is_map() && node.find("value") == nullptr && node.find("use") == nullptr &&
         node.find("alternatives") == nullptr;
}

std::vector<MapEntry>::iterator entry_of(Node& map, const std::string& key) {
  return std::find_if(map.entries.begin(), map.entries.end(),
                      [&key](const MapEntry& entry) { return entry.key == key; });
}

void erase_entry(Node& map, const std::string& key) {
  const auto entry = entry_of(map, key);
  if (entry != map.entries.end()) map.entries.erase(entry);
}

[[noreturn]] void refuse_nothing(const MapEntry& entry, const std::string& path,
                                 const Node& parent) {
  std::vector<std::string> names;
  for (const MapEntry& other : parent.entries) names.push_back(other.key);
  const std::string others = names.empty() ? "" : "; there is " + join(names, ", ");
  throw UserError(
      fmt::format("{}: {}: there is nothing to leave out{}", entry.value.where(), path, others));
}

void leave_out_in_group(Node& own, Node& parent, const std::string& group) {
  for (auto entry = own.entries.begin(); entry != own.entries.end();) {
    const std::string path = group + entry->key;
    const auto other = entry_of(parent, entry->key);
    if (entry->value.kind == NodeKind::kNull) {
      if (other != parent.entries.end()) {
        parent.entries.erase(other);
      } else if (entry->value.text != kLeftOut) {
        refuse_nothing(*entry, path, parent);
      }
      entry = own.entries.erase(entry);
      continue;
    }
    if (is_group(entry->value)) {
      Node nothing;
      const bool has_group = other != parent.entries.end() && is_group(other->value);
      leave_out_in_group(entry->value, has_group ? other->value : nothing, path + ".");
    }
    ++entry;
  }
}

// What `own` states, and the rest of `parent`. An entry of nothing stays one, as the next parent
// may have it, too.
Node joined(Node own, Node parent) {
  for (MapEntry& entry : own.entries) {
    const auto other = entry_of(parent, entry.key);
    if (other == parent.entries.end()) {
      parent.entries.push_back(std::move(entry));
    } else if (is_group(entry.value) && is_group(other->value)) {
      other->value = joined(std::move(entry.value), std::move(other->value));
    } else {
      if (entry.value.kind == NodeKind::kNull) entry.value.text = kLeftOut;
      *other = std::move(entry);
    }
  }
  parent.file = own.file;
  parent.line = own.line;
  return parent;
}

std::string same_name(const fs::path& path) {
  std::error_code error;
  return fs::weakly_canonical(path, error).string();
}

}  // namespace

void leave_out_entries(Node& own, Node& parent) { leave_out_in_group(own, parent, ""); }

Node with_own_parents(Node root, const fs::path& path, std::string& bytes) {
  std::vector<std::string> seen = {same_name(path)};
  std::vector<std::string> shown = {shown_path(path)};
  fs::path place = path;
  for (const Node* like = root.find("like");
       like != nullptr && like->is_scalar() && is_file_name(like->text); like = root.find("like")) {
    const std::string where = like->where() + ": like: ";
    const std::string other = fs::path(beside(place, like->text)).lexically_normal().string();
    shown.push_back(shown_path(other));
    if (!fs::exists(other)) throw UserError(where + "there is no file " + shown.back());
    if (std::find(seen.begin(), seen.end(), same_name(other)) != seen.end()) {
      throw UserError(fmt::format(
          "{}these files are like one another in a circle: {}; one of them has to be like a device "
          "of `foretell list devices`, or to state every value",
          where, join(shown, " -> ")));
    }
    seen.push_back(same_name(other));
    const std::string text = read_text_file(other, shown.back());
    bytes += text;
    Node parent = parse_document(text, shown.back());
    const auto core = entry_of(parent, "core");
    if (core != parent.entries.end() && is_file_name(core->value.text))
      core->value.text = fs::absolute(beside(other, core->value.text)).string();
    erase_entry(parent, "id");
    erase_entry(root, "like");
    root = joined(std::move(root), std::move(parent));
    place = other;
  }
  return root;
}

Node load_with_own_parents(const fs::path& path) {
  std::string bytes;
  return with_own_parents(load_document(path), path, bytes);
}

}  // namespace foretell
