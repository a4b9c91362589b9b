// The parameters of a loaded system as people see them.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/likeness.hpp"
#include "model/config/fields.hpp"

namespace foretell {

// Every field with a value, with where the value comes from; `describe` says it of those without
// provenance, which are neutral where it is empty.
std::vector<Parameter> parameters_of(const FieldList& list,
                                     const std::map<std::string, Provenance>& provenance,
                                     const std::set<std::string>& overridden,
                                     const std::function<void(Parameter&)>& describe = {});

// Marks the values that changed because others were overridden: `why` says which.
void note_moved(FieldList& list, const std::vector<std::string>& paths, const std::string& why,
                std::vector<Parameter>& parameters);

// Marks the values in which a machine of the user's differs from the one that it is taken for.
void mark_differing(const Likeness& like, std::vector<Parameter>& parameters);

int assumed_values_in(const std::vector<Parameter>& parameters);

}  // namespace foretell
