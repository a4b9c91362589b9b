// Parts of a call (kernels, loops) of which many are equal: each distinct one is simulated once.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/base/units.hpp"

namespace foretell {

// The time of every part, in order. `key_of(part)` is the same for parts that take the same time;
// `simulate(distinct)` answers one time per part given. `all`: equal ones are simulated, too.
template <class Part, class KeyOf, class Simulate>
std::vector<Seconds> distinct_times(const std::vector<Part>& parts, bool all, const KeyOf& key_of,
                                    const Simulate& simulate) {
  std::vector<Part> distinct;
  std::vector<std::size_t> distinct_of;  // by part
  std::map<std::string, std::size_t> known;
  for (const Part& part : parts) {
    const std::size_t next = distinct.size();
    const std::size_t index = all ? next : known.try_emplace(key_of(part), next).first->second;
    if (index == next) distinct.push_back(part);
    distinct_of.push_back(index);
  }
  const std::vector<Seconds> simulated = simulate(distinct);
  std::vector<Seconds> times;
  times.reserve(distinct_of.size());
  for (const std::size_t index : distinct_of) times.push_back(simulated[index]);
  return times;
}

}  // namespace foretell
