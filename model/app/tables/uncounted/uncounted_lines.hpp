// Lines of a table whose rows do not count, each with the reason: what the rules of a file in
// calib/validate that compare rows of one table make of it.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/config/document.hpp"

namespace foretell {

class UncountedLines {
 public:
  // Rows that follow do not count because of `why`.
  void begin(std::string why) { whys_.push_back(std::move(why)); }
  void add(std::size_t line) { lines_.emplace(line, whys_.size() - 1); }

  // Why the row that begins on a line of the table does not count; nothing where it does.
  std::optional<std::string> reason(std::size_t line) const;

 private:
  std::vector<std::string> whys_;
  std::map<std::size_t, std::size_t> lines_;  // to the reason
};

// The text of a file in calib/validate.
std::string rules_file(const std::string& name);

// Hands on each of the `rules` of a document. UserError with file:line where it has other keys.
void each_rule(const std::string& text, const std::string& shown_as,
               const std::function<void(const Node& rule)>& take);

// The `table` of a rule. UserError where it is no kind of table.
std::string table_of_rule(const Node& rule);

}  // namespace foretell
