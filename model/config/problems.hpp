// Collects everything that is wrong with an input, so that the user sees all of it in one go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/base/errors.hpp"

namespace foretell {

struct Node;

class Problems {
 public:
  // "hw/devices/x.yaml:14: hbm.bandwidth: <message>"; an empty path is left out.
  void add(const Node& at, std::string_view path, std::string_view message);
  void add(std::string_view where, std::string_view path, std::string_view message);
  void add(std::string line) { lines_.push_back(std::move(line)); }

  // Runs `check`; the lines of a UserError that it throws are added. True when it threw none.
  template <class Check>
  bool collect(const Check& check) {
    try {
      check();
      return true;
    } catch (const UserError& error) {
      add_lines(error.what());
      return false;
    }
  }

  bool empty() const { return lines_.empty(); }
  const std::vector<std::string>& lines() const { return lines_; }

  // One UserError with one line per problem; returns when there is none.
  void throw_if_any() const;

 private:
  void add_lines(std::string_view text);

  std::vector<std::string> lines_;
};

}  // namespace foretell
