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

}  // namespace

std::vector<OpId> ops_of_layer(const Graph& graph, std::int32_t layer) {
  std::vector<OpId> ops;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    if (graph.op(id).layer == layer) ops.push_back(id);
  }
  return ops;
}

LayerRun longest_equal_run(const Graph& graph) {
  std::map<std::int32_t, std::vector<OpId>> layers;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops().size()); ++id) {
    if (graph.op(id).layer != kNoId) layers[graph.op(id).layer].push_back(id);
  }
  LayerRun best;
  LayerRun current;
  const std::vector<OpId>* previous = nullptr;
  for (const auto& [layer, ops] : layers) {
    const bool continues = previous != nullptr && layer == current.first + current.count &&
                           equal_layers(graph, *previous, ops);
    if (continues) {
      ++current.count;
    } else {
      current = {layer, 1};
    }
    // The one of equally long runs that has larger layers: those of a backward pass.
    const bool is_larger = current.count == best.count && current.count > 1 &&
                           ops.size() > ops_of_layer(graph, best.first).size();
    if (current.count > best.count || is_larger) best = current;
    previous = &ops;
  }
  return best;
}

}  // namespace foretell
