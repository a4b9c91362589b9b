// YAML documents whose every node knows its place.
//
// Read strictly: duplicate keys, several documents in one file, aliases that contain themselves,
// and keys that are not plain text are errors. The tree is plain data and stays valid as long as it
// lives; yaml-cpp does not appear in this interface.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace foretell {

enum class NodeKind { kNull, kScalar, kList, kMap };

struct MapEntry;

struct Node {
  NodeKind kind = NodeKind::kNull;
  std::string text;               // of a scalar, without quotes
  std::vector<Node> items;        // of a list
  std::vector<MapEntry> entries;  // of a map, in the order of the file
  std::string file;               // as it is to be shown in messages
  int line = 0;                   // from 1

  bool is_map() const { return kind == NodeKind::kMap; }
  bool is_list() const { return kind == NodeKind::kList; }
  bool is_scalar() const { return kind == NodeKind::kScalar; }
  std::string where() const;  // "hw/devices/x.yaml:14"

  // The value of a key of a map; null when the key is missing or this is not a map.
  const Node* find(std::string_view key) const;

  // Typed access. UserErrors carry "file:line: <path>: " in front; `path` names the node there.
  const std::string& as_text(std::string_view path) const;
  long long as_integer(std::string_view path, long long min, long long max) const;
  const Node& required(std::string_view key, std::string_view path) const;

  // UserError for every key of this map that is not in `known` (nearest name given).
  void only_keys(const std::vector<std::string>& known, std::string_view path) const;
};

struct MapEntry {
  std::string key;
  int line = 0;
  Node value;
};

// "scalar", "list", "mapping", "nothing": what a node is, for messages.
std::string_view describe(NodeKind kind);

// Reads one YAML file. `shown_as` is the name in messages (default: the path as given).
Node load_document(const std::filesystem::path& path, const std::string& shown_as = "");

// The same from text that is already in memory.
Node parse_document(const std::string& text, const std::string& shown_as);

// The bytes of a file; UserError when it cannot be read, or is larger than any such file is.
std::string read_text_file(const std::filesystem::path& path, const std::string& shown_as = "");

}  // namespace foretell
