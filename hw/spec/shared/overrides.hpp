// `--set PATH=VALUE`.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "hw/spec/shared/provenance.hpp"
#include "model/config/fields.hpp"

namespace foretell {

// Applies each "PATH=VALUE" to the list. "PATH.use=NAME" chooses one of the published alternatives
// of a parameter and updates its provenance. Returns the paths whose value the user gave.
// Everything that is wrong goes to `problems`: no "=", unknown paths (nearest named), values that
// the parameter refuses, the same path twice, parts of a system that cannot be set alone.
std::set<std::string> apply_overrides(FieldList& list, const std::vector<std::string>& assignments,
                                      std::map<std::string, Provenance>& provenance,
                                      Problems& problems);

}  // namespace foretell
