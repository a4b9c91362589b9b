// Collects everything that is wrong with an input, so that the user sees all of it in one go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretell {

struct Node;

class Problems {
 public:
  // "hw/devices/x.yaml:14: hbm.bandwidth: <message>"; an empty path is left out.
  void add(const Node& at, std::string_view path, std::string_view message);
  void add(std::string_view where, std::string_view path, std::string_view message);
  void add(std::string line) { lines_.push_back(std::move(line)); }

  bool empty() const { return lines_.empty(); }
  const std::vector<std::string>& lines() const { return lines_; }

  // One UserError with one line per problem; returns when there is none.
  void throw_if_any() const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace foretell
