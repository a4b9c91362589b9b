// Programs of NeuronCores by all that mapping reads, so that calls which differ in rates alone are
// mapped once.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <vector>

#include "hw/spec/neuron/core_shape.hpp"
#include "model/mapping/neuron/scheduling.hpp"
#include "model/mapping/shared/fold_layers.hpp"
#include "model/program/program.hpp"
#include "workloads/ir/graph.hpp"
#include "workloads/ir/precision.hpp"

namespace foretell {

// A program and what else follows from the graph alone.
struct KeptProgram {
  Program program;
  std::vector<Flops> flops;  // by operator of the graph
};

class KeptPrograms {
 public:
  // Forgets those that were not asked for longest when all together are larger.
  explicit KeptPrograms(std::size_t most_bytes = std::size_t{256} << 20U)
      : most_bytes_(most_bytes) {}

  // map_to_neuron_core() of the same, made when none of the kept ones is of equal arguments. It has
  // passed validate() with these limits.
  std::shared_ptr<const KeptProgram> get(const Graph& graph, const PrecisionPolicy& precision,
                                         const CoreShape& core,
                                         const SchedulingParameters& scheduling,
                                         const LayerStandIns& stand_ins,
                                         const ProgramLimits& limits);

  std::size_t size() const { return kept_.size(); }
  std::size_t bytes() const { return bytes_; }

 private:
  struct Kept {
    Graph graph;
    PrecisionPolicy precision;
    CoreShape core;
    SchedulingParameters scheduling;
    LayerStandIns stand_ins;
    ProgramLimits limits;  // that it was validated with
    std::shared_ptr<const KeptProgram> program;
    std::size_t bytes = 0;  // about
  };
  void forget_oldest();

  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::list<Kept> kept_;  // the last asked for first
};

}  // namespace foretell
