// From the keys of a study to requests, and from records to the metrics that studies judge by.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hw/spec/shared/catalog.hpp"
#include "model/app/request/resolve/request_fields.hpp"
#include "model/app/study/study.hpp"

namespace foretell {

// Keys of a study that are no paths of parameters: on, workload, dtype, batch, ….
const std::vector<std::string>& scenario_keys();

// Sets one key of a request. UserError for a key that is neither a scenario key nor a path (the
// nearest is named), and for a value that the key does not take.
void set_study_key(Request& request, const std::string& key, const std::string& value);

// The request of a design point, checked.
Request study_request(const PointValues& values);

// Leaves the cost out of the objectives that the file does not state where no system of the study
// has a published price: no point had one.
void leave_out_unknown_cost(Study& study);
// That of a store, as it was judged.
Study stored_study(const std::string& name, const std::string& definition);

PointMetrics point_metrics(const RunSummary& summary);
std::string value_text(const StudyValue& value);  // for people, with its unit

// Published and fitted values of the systems of a study, for names in its formulas.
class ParameterDefaults {
 public:
  StudyValue operator()(const PointValues& values, const std::string& name);

 private:
  using Values = std::map<std::string, std::string>;  // by path
  const Values& of(const PointValues& values);

  std::map<std::string, Values> known_;  // by system and factors
};

// The request that asks for nothing but a system of the study, with a network and factors that the
// point names: for its parameters.
Request parameter_request(const PointValues& values);

// Hash of the data that predictions rest on: hardware, factors, networks.
std::string data_hash();

// Files that a study names beside them: systems, networks, factors. Each is read once, so that a
// study sees one content of it. What is returned changes with the content; "" without files.
class NamedFiles {
 public:
  std::string of(const PointValues& values);
  std::string of(const Study& study);

 private:
  const std::string& hash(const std::string& value);

  std::map<std::string, std::string> hashes_;  // by value, "" for what is no file
};

}  // namespace foretell
