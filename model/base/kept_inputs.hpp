// Inputs that a process reads once: workers of a study, all of whose points are to see one content
// of every file, keep what they read and what follows from it alone. Everywhere else files are read
// anew for each prediction.
//
// For processes with one thread.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

namespace foretell {

bool inputs_are_kept();
void keep_inputs(bool keep = true);  // from now on

// Values by all that they follow from. Empties itself when it holds `most` of them.
template <class Value>
class KeptValues {
 public:
  explicit KeptValues(std::size_t most) : most_(most) {}

  // The value of `key`, made when it is new or nothing is kept.
  template <class Make>
  Value get(const std::string& key, const Make& make) {
    if (!inputs_are_kept()) return make();
    const auto known = values_.find(key);
    if (known != values_.end()) return known->second;
    Value value = make();
    if (values_.size() >= most_) values_.clear();
    values_.emplace(key, value);
    return value;
  }

 private:
  std::size_t most_;
  std::map<std::string, Value> values_;
};

}  // namespace foretell
