// Measurements of equal conditions: how far they lie from their median is the noise floor of a
// class, which no prediction can be nearer to on average.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

namespace foretell {

class Repeats {
 public:
  // `conditions` is what was run, as text; "" where that is not known: the value is left out.
  void add(const std::string& quantity, const std::string& conditions, double value);

  // Mean of |value / median - 1| over the values of conditions that were measured more than once;
  // none without repeats.
  std::optional<double> noise(const std::string& quantity) const;

 private:
  using Values = std::unordered_map<std::size_t, std::vector<double>>;  // by hash of conditions
  std::map<std::string, Values> quantities_;
};

}  // namespace foretell
