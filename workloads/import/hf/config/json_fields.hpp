// Checked reading of the fields of a JSON object. Problems are collected, each with file and line,
// so that the user sees all of them at once.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace foretell {

class JsonFields {
 public:
  // Parses `text` into an object: YAML when the name of the file ends in .yaml or .yml, else JSON.
  // UserError for what is no object or repeats a key.
  JsonFields(std::string text, std::string file);

  bool has(std::string_view key) const;  // present and not null
  // Integer in [1, most]. A problem is noted when it is missing, of another type or out of range;
  // the value is then 1 so that reading can go on.
  std::int64_t size(std::string_view key, std::int64_t most);
  std::int64_t size_or(std::string_view key, std::int64_t most, std::int64_t when_absent);
  // Integer in [0, most].
  std::int64_t count_or(std::string_view key, std::int64_t most, std::int64_t when_absent);
  // List of integers in [1, most]; a problem is noted when it is missing, empty or holds others.
  std::vector<std::int64_t> sizes(std::string_view key, std::int64_t most);
  double share(std::string_view key);  // number in (0, 1]
  // List of this many numbers from 0 to 1.
  std::vector<double> shares(std::string_view key, std::size_t count);
  bool flag_or(std::string_view key, bool when_absent);
  std::vector<bool> flags(std::string_view key);  // a list; empty when absent
  double number_or(std::string_view key, double when_absent);
  std::string text_or(std::string_view key, const std::string& when_absent);
  // List of whole numbers of any sign, true and false as 1 and 0; empty when absent.
  std::vector<std::int64_t> integers(std::string_view key);
  // The objects of a list; empty when absent.
  std::vector<JsonFields> items(std::string_view key);
  bool is_list(std::string_view key) const;
  bool is_object(std::string_view key) const;
  // False where it is absent or off; where it is anything but an object, a problem is noted.
  bool has_object(std::string_view key);
  bool is_text(std::string_view key) const;
  bool is_on(std::string_view key) const;                // there, and not false, 0 or empty
  std::string text(std::string_view key);                // "" when missing, and a problem is noted
  std::vector<std::string> texts(std::string_view key);  // empty when absent
  std::vector<std::string> names() const;                // of all fields
  std::size_t entries(std::string_view key) const;       // of an object or list; 0 when absent
  // Fields that have not been read yet, sorted, but for those that are off: false, 0 or empty.
  std::vector<std::string> unread() const;

  // The fields of the object under `key`, none when it is missing, which is a problem. What turns
  // out to be wrong with them is handed back with take_problems().
  JsonFields inside(std::string_view key);
  void take_problems(const JsonFields& inner);
  // The same without a place in the file, for large tables of small objects.
  JsonFields part(std::string_view key) const;

  // "file:line: key: message", the key after those of the objects around it: "vision_config.depth"
  void problem(std::string_view key, const std::string& message);
  std::size_t problems() const { return problems_.size(); }
  // UserError with all problems, if there are any.
  void check() const;

 private:
  JsonFields(std::string text, std::string file, nlohmann::json object, std::size_t from,
             std::string path);

  std::string path_of(std::string_view key) const;
  std::string absent(std::string_view key) const;  // what is wrong with it, for a message
  const nlohmann::json* find(std::string_view key) const;
  std::string shown(std::string_view key) const;
  std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most);

  std::string text_;
  std::string file_;
  nlohmann::json object_;
  std::size_t from_ = 0;  // where the object begins in the text
  std::string path_;      // the keys of the objects around its fields, each with a dot
  mutable std::set<std::string, std::less<>> asked_;
  std::vector<std::string> problems_;
};

}  // namespace foretell
