#include "model/mapping/shared/fold_layers.hpp"

#include <algorithm>
#include <map>

namespace foretell {
namespace {

// Equal in everything that the mapping looks at. Which weights they read does not matter, but
// whether two layers share them does: a shared weight is loaded once.
bool equal_ops(const Graph& graph, const Op& a, const Op& b) {
  if (a.kind != b.kind || a.inputs.size() != b.inputs.size() || a.attributes != b.attributes)
    return false;
  for (std::size_t i = 0; i < a.inputs.size(); ++i) {
    const Tensor& x = graph.tensor(a.inputs[i]);
    const Tensor& y = graph.tensor(b.inputs[i]);
    const bool weights = x.kind == TensorKind::kWeight;
    if (x.shape != y.shape || x.dtype != y.dtype || weights != (y.kind == TensorKind::kWeight))
      return false;
  }
  return true;
}

bool equal_layers(const Graph& graph, const std::vector<OpId>& a, const std::vector<OpId>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&graph](OpId x, OpId y) {
           return equal_ops(graph, graph.op(x), graph.op(y));
         });
}

// Layers without a gap in their numbers, each as the number of the first one that is equal to it.
struct Sequence {
  std::int32_t first = 0;
  std::vector<std::size_t> classes;
};

std::vector<Sequence> sequences_of(const Graph& graph) {
  std::vector<Sequence> sequences;
  std::vector<std::vector<OpId>> classes;
  std::int32_t next = 0;
  for (const auto& [layer, ops] : ops_of_layers(graph)) {
    if (sequences.empty() || layer != next) sequences.push_back({layer, {}});
    next = layer + 1;
    const auto same = std::find_if(classes.begin(), classes.end(), [&, &of = ops](const auto& one) {
      return equal_layers(graph, one, of);
    });
    sequences.back().classes.push_back(static_cast<std::size_t>(same - classes.begin()));
    if (same == classes.end()) classes.push_back(ops);
  }
  return sequences;
}

// How often the `length` layers from `begin` on follow one another.
std::size_t repetitions(const std::vector<std::size_t>& classes, std::size_t begin,
                        std::size_t length) {
  std::size_t end = begin + length;
  while (end < classes.size() && classes[end] == classes[end - length]) ++end;
  return (end - begin) / length;
}

// The pattern from `begin` on that leaves fewest layers to map; the shortest of equally good ones.
LayerRun best_run(const Sequence& sequence, std::size_t begin, std::size_t shortest) {
  LayerRun best;
  std::size_t most = 0;
  const std::size_t left = sequence.classes.size() - begin;
  for (std::size_t length = 1; length * (shortest + 1) <= left; ++length) {
    const std::size_t count = repetitions(sequence.classes, begin, length);
    if (count <= shortest || (count - shortest) * length <= most) continue;
    most = (count - shortest) * length;
    best = {sequence.first + static_cast<std::int32_t>(begin), static_cast<std::int32_t>(length),
            static_cast<std::int32_t>(count)};
  }
  return best;
}

}  // namespace

std::map<std::int32_t, std::vector<OpId>> ops_of_layers(const Graph& graph) {
  std::map<std::int32_t, std::vector<OpId>> layers;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    if (graph.op(id).layer != kNoId) layers[graph.op(id).layer].push_back(id);
  }
  return layers;
}

std::vector<LayerRun> equal_runs(const Graph& graph, std::int32_t shortest) {
  std::vector<LayerRun> runs;
  for (const Sequence& sequence : sequences_of(graph)) {
    std::size_t begin = 0;
    while (begin < sequence.classes.size()) {
      const LayerRun run = best_run(sequence, begin, static_cast<std::size_t>(shortest));
      if (run.count > 0) runs.push_back(run);
      begin = run.count > 0 ? static_cast<std::size_t>(run.end() - sequence.first) : begin + 1;
    }
  }
  return runs;
}

}  // namespace foretell
