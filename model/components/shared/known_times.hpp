// What a module found out about equal work before: the same work in the same state takes the same
// time, so that it is executed once and repeated from here. The numbers that a time depends on are
// the key.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "model/components/shared/ticks.hpp"

namespace foretell {

class KnownTimes {
 public:
  struct Known {
    Ticks time = 0;
    Ticks busy = 0;  // of the module
  };
  using Key = std::vector<double>;
  // `enabled`: false executes everything.
  explicit KnownTimes(bool enabled) : enabled_(enabled) {}

  bool enabled() const { return enabled_; }
  // Nullptr: not seen before.
  const Known* find(const Key& key) const {
    const auto found = times_.find(key);
    return found == times_.end() ? nullptr : &found->second;
  }
  void add(Key key, Known known) {
    if (enabled_) times_.emplace(std::move(key), known);
  }

 private:
  bool enabled_;
  std::map<Key, Known> times_;
};

}  // namespace foretell
