#include "hw/spec/shared/parameter_list.hpp"

#include <algorithm>

namespace foretell {

std::vector<Parameter> parameters_of(const FieldList& list,
                                     const std::map<std::string, Provenance>& provenance,
                                     const std::set<std::string>& overridden,
                                     const std::function<void(Parameter&)>& describe) {
  std::vector<Parameter> parameters;
  for (const Field& field : list.all()) {
    if (!field.has_value()) continue;
    Parameter parameter;
    parameter.path = field.path;
    parameter.value = field.text();
    parameter.meaning = field.meaning;
    const auto found = provenance.find(field.path);
    const bool is_as_it_is = found != provenance.end() && found->second.set_as_it_is;
    if (overridden.count(field.path) != 0 && field.is_method) {
      parameter.source = "--set";
      parameter.kind = ValueKind::kNeutral;
    } else if (overridden.count(field.path) != 0 && !is_as_it_is) {
      parameter.overridden = true;
      if (found != provenance.end()) parameter.before = found->second.chosen.value;
      parameter.source = "--set";
      parameter.kind = ValueKind::kOverride;
    } else if (found != provenance.end()) {
      const Provenance& origin = found->second;
      parameter.value = origin.chosen.value;
      parameter.source = origin.chosen.source;
      parameter.kind = origin.chosen.kind;
      parameter.why = origin.chosen.why;
      parameter.use = origin.use;
      parameter.alternatives = origin.alternatives;
    } else if (describe) {
      describe(parameter);
    } else {
      parameter.kind = ValueKind::kNeutral;
    }
    parameters.push_back(std::move(parameter));
  }
  return parameters;
}

void note_moved(FieldList& list, const std::vector<std::string>& paths, const std::string& why,
                std::vector<Parameter>& parameters) {
  for (Parameter& parameter : parameters) {
    if (std::find(paths.begin(), paths.end(), parameter.path) == paths.end()) continue;
    parameter.value = list.at(parameter.path).text();
    parameter.source = "--set";
    parameter.kind = ValueKind::kOverride;
    parameter.why = why;
    parameter.interval80.clear();
    parameter.use.clear();
    parameter.alternatives.clear();
  }
}

void mark_differing(const Likeness& like, std::vector<Parameter>& parameters) {
  for (Parameter& parameter : parameters) {
    parameter.differs = !parameter.overridden &&
                        std::count(like.differs.begin(), like.differs.end(), parameter.path) > 0;
    const auto measured = like.measured.find(parameter.path);
    if (measured != like.measured.end()) parameter.before = measured->second;
  }
}

int assumed_values_in(const std::vector<Parameter>& parameters) {
  return static_cast<int>(std::count_if(
      parameters.begin(), parameters.end(),
      [](const Parameter& parameter) { return parameter.kind == ValueKind::kAssumed; }));
}

}  // namespace foretell
