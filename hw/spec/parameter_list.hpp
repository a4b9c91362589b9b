// The parameters of a loaded system as people see them.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "hw/spec/catalog.hpp"
#include "model/config/fields.hpp"

namespace foretell {

// Every field with a value, with where the value comes from; neutral without provenance.
std::vector<Parameter> parameters_of(const FieldList& list,
                                     const std::map<std::string, Provenance>& provenance,
                                     const std::set<std::string>& overridden);

int assumed_values_in(const std::vector<Parameter>& parameters);

}  // namespace foretell
