// A graph made of operators of another one, or of several.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

// Weights that several copies share, by name.
using SharedWeights = std::map<std::string, TensorId>;

// Copies operators of `source` to the end of `graph`, in any order in which each follows what it
// reads. Weights of one name are one in all copies that are given the same `weights`; the names of
// everything else begin with `prefix`. Both graphs have to outlive it.
class GraphCopy {
 public:
  GraphCopy(const Graph& source, std::string prefix, SharedWeights& weights, Graph& graph);

  // All inputs, weights and states; without it each enters with the first operator that reads it.
  void enter_all();
  void copy(const Op& op);
  // The copy of a tensor; kNoId for one that is not there yet.
  TensorId id_of(TensorId source) const { return ids_.at(static_cast<std::size_t>(source)); }

 private:
  void enter(TensorId id);

  const Graph& source_;
  std::string prefix_;
  SharedWeights& weights_;
  Graph& graph_;
  std::vector<TensorId> ids_;  // in `graph`, by tensor of the source
};

}  // namespace foretell
