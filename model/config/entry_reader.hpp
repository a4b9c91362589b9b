// Reads the values of one entry of a YAML document, a mapping, into variables.
//
//   EntryReader reader(node, "limits", {"source", "why"});
//   reader.require({"framework"});
//   reader.text("framework", limits.framework);
//   reader.whole("max_tokens", limits.max_tokens);
//   reader.finish();
//
// What the entry does not state stays as it is. UserErrors carry "file:line: limits.max_tokens: ".
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "model/base/errors.hpp"
#include "model/config/document.hpp"
#include "model/config/node_number.hpp"

namespace foretell {

class EntryReader {
 public:
  static constexpr std::int64_t kMaxWhole = 1'000'000'000;

  // `path`: what the entry is called in messages; "": the whole document. `known`: keys that others
  // read, or that are there for people.
  EntryReader(const Node& entry, std::string path, std::vector<std::string> known = {})
      : entry_(entry), path_(std::move(path)), known_(std::move(known)) {}

  // finish() reports those of them that the entry does not have.
  void require(const std::vector<std::string>& keys) { required_ = keys; }

  void number(const char* key, double& value);  // 0 or more
  void number(const char* key, double& value, double min, double max);
  void numbers(const char* key, std::vector<double>& values);  // a list, ascending, above 0
  template <class Q>
  void quantity(const char* key, Q& value) {
    if (const Node* found = node(key))
      value = Q(quantity_at(*found, at(key), dimension_of<Q>::value));
  }
  void whole(const char* key, std::int64_t& value, std::int64_t min = 0,
             std::int64_t max = kMaxWhole);
  void whole(const char* key, int& value, std::int64_t min = 0, std::int64_t max = kMaxWhole);
  void flag(const char* key, bool& value);  // yes, no
  void text(const char* key, std::string& value);
  void texts(const char* key, std::vector<std::string>& values);  // a list of them, or one
  void one_of(const char* key, const std::vector<std::string>& known, std::string& value);
  // A word that stands for a value.
  template <class Value>
  void word(const char* key, const std::vector<std::pair<const char*, Value>>& words,
            Value& value) {
    const Node* found = node(key);
    if (found == nullptr) return;
    const std::string& text = found->as_text(at(key));
    std::vector<std::string> names;
    for (const auto& [name, meaning] : words) {
      if (text == name) {
        value = meaning;
        return;
      }
      names.emplace_back(name);
    }
    refuse(*found, key, unknown_name(key, text, names).what());
  }
  const Node* node(const char* key);                // for a reader of its own; null: not there
  const std::vector<Node>& items(const char* key);  // of a list; none where it is not there

  // UserError for keys that were not read, and for those that have to be there.
  void finish();

 private:
  std::string at(const char* key) const;
  [[noreturn]] void refuse(const Node& node, const char* key, const std::string& message) const;

  const Node& entry_;
  std::string path_;
  std::vector<std::string> known_;
  std::vector<std::string> required_;
};

}  // namespace foretell
