// From the name of a network to its operator graph.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/import/model_config.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// What a network is run with: the sizes that its config.json leaves open.
struct Binding {
  std::int64_t batch = 1;
  std::int64_t seq_len = 128;  // tokens per sequence in one forward pass
};

// The networks that ship with the project (workloads/models/, or the folder that the environment
// variable FORETELL_WORKLOADS names) and config.json files of the user's own.
class WorkloadLibrary {
 public:
  WorkloadLibrary();  // UserError when the folder does not exist
  explicit WorkloadLibrary(std::string folder);

  // Names as they are listed: the path below the folder without ".json".
  const std::vector<std::string>& names() const { return names_; }

  // `name` is in any case a listed name with or without the organisation in front
  // ("google/electra-base-discriminator", "Electra-Base-Discriminator"), the name under which the
  // network is published ("google-bert/bert-large-uncased"), or the path of a config.json.
  // UserError names the nearest workload, or says what is wrong with the file.
  ModelConfig load(std::string_view name) const;

 private:
  ModelConfig load_listed(const std::string& name) const;

  std::string folder_;
  std::vector<std::string> names_;
};

// Graph in FP32 (see workloads/ir/precision.hpp for the types of a run). UserError when the binding
// does not fit the network: batch or length out of range.
Graph build_graph(const ModelConfig& config, const Binding& binding);

}  // namespace foretell
