// Networks that decide while they run: what is computed in which order, as parts that are each a
// graph of its own, between branches and loops.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/import/hf/config/model_config.hpp"
#include "workloads/import/workload.hpp"

namespace foretell {

struct ControlStep {
  enum class Kind { kRun, kBranch, kLoop };
  Kind kind = Kind::kRun;
  std::string name;                  // of the part (Binding::part), or of the operator
  std::string like;                  // a part: the first one with equal operators
  std::vector<ControlStep> body;     // of a branch: where it is taken
  std::vector<ControlStep> instead;  // of a branch: where it is not
  // The probability of the branch or the trips of the loop, where the network says so.
  std::optional<double> stated = {};
  bool is_constant = false;  // known before the network runs: nothing decides on the device
};

// In order; empty for a network without control flow. A network that leaves early (exits after its
// layers) is a chain of branches exit.0, exit.1, …, taken when the input leaves there. If, Loop and
// Scan of ONNX are called after their nodes; their parts are "main", "NAME/then", "NAME/else" and
// "NAME/body", and parts of parts have the name of the part in front. Parts that compute nothing
// are left out. UserErrors as of build_graph().
std::vector<ControlStep> control_flow(const ModelConfig& config, const Binding& binding);

// The names of all steps below, each once.
std::vector<std::string> part_names(const std::vector<ControlStep>& steps);

}  // namespace foretell
