// Looking names up.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/errors.hpp"

namespace foretell {

// What a map has under a name. UserError with the nearest for one that it does not have; `kind` is
// what the names are of.
template <class T>
const T& looked_up(const std::map<std::string, T>& known, std::string_view kind,
                   const std::string& name) {
  const auto found = known.find(name);
  if (found != known.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& entry : known) names.push_back(entry.first);
  throw unknown_name(kind, name, names);
}

}  // namespace foretell
