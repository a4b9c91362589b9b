// Which layers of a graph are equal, so that a few of them stand for all.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

// Consecutive layers that repeat a pattern: `count` times the `length` layers from `first` on, with
// the same operators, shapes and types each time. A network whose layers are all equal has a
// pattern of one layer, one with a full attention after every five windows a pattern of six.
struct LayerRun {
  std::int32_t first = 0;
  std::int32_t length = 1;
  std::int32_t count = 0;

  // The first layer of a repetition.
  std::int32_t at(std::int32_t repetition) const { return first + repetition * length; }
  std::int32_t end() const { return at(count); }
};

// Runs of more than `shortest` repetitions, none of which overlaps another, in order of layers.
std::vector<LayerRun> equal_runs(const Graph& graph, std::int32_t shortest);

// By layer that is not mapped itself: the equal one before it that stands for it.
using LayerStandIns = std::map<std::int32_t, std::int32_t>;

// By layer (Op::layer), its operators in graph order.
std::map<std::int32_t, std::vector<OpId>> ops_of_layers(const Graph& graph);

}  // namespace foretell
