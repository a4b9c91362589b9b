// Rows of a table that do not count, each with the line on which it stands and the reason.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace foretell {

class LeftOutRows {
 public:
  void add(const std::string& reason, std::size_t line);
  std::size_t count() const { return count_; }
  // "lines 4, 7 and 9: call_ms: '-4' is no measurement …", one text per reason, in the order in
  // which they were met; the last one counts what is too much to be listed.
  std::vector<std::string> texts() const;

 private:
  struct Reason {
    std::string text;
    std::size_t count = 0;
    std::vector<std::size_t> lines;  // the first of them
  };
  std::vector<Reason> reasons_;
  std::map<std::string, std::size_t> places_;
  std::size_t count_ = 0;
};

// What a cell of a measured column holds: a number above zero; nothing where it is empty. UserError
// that names the column and what would be right for everything else.
std::optional<double> read_measurement(const std::string& column, const std::string& cell);

// The same without a reason: is the cell a measured time of zero, as clocks show one that is
// shorter than their step?
bool is_below_clock(const std::string& column, const std::string& cell);

}  // namespace foretell
