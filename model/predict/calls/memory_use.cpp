#include "model/predict/calls/memory_use.hpp"

#include <algorithm>
#include <vector>

#include "model/mapping/shared/same_graph.hpp"

namespace foretell {
namespace {

// An activation lives from its operator to its last reader.
Bytes most_live_activations(const Graph& graph) {
  std::vector<double> change(graph.ops().size() + 1, 0.0);
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind != TensorKind::kActivation || tensor.producer == kNoId ||
        tensor.consumers.empty())
      continue;
    change[static_cast<std::size_t>(tensor.producer)] += tensor.bytes().value();
    change[static_cast<std::size_t>(tensor.consumers.back()) + 1] -= tensor.bytes().value();
  }
  double live = 0;
  double peak = 0;
  for (const double step : change) {
    live += step;
    peak = std::max(peak, live);
  }
  return Bytes(peak);
}

MemoryUse use_of_graph(const Graph& graph) {
  MemoryUse use;
  use.weights = graph.weight_bytes();
  for (const Tensor& tensor : graph.tensors()) {
    // An operator updates a state in place: its new content needs no room of its own.
    if (tensor.kind == TensorKind::kState && tensor.producer == kNoId)
      use.kv_cache += tensor.bytes();
    if (tensor.kind == TensorKind::kInput || tensor.kind == TensorKind::kOutput)
      use.inputs_outputs += tensor.bytes();
  }
  use.activations = most_live_activations(graph);
  return use;
}

struct KeptCoreUses : KeptByGraph<MemoryUse> {};

}  // namespace

MemoryUse memory_of_core(const Graph& graph, const HostSpec& host) {
  MemoryUse use = *kept_input<KeptCoreUses>(
      graph, [&graph] { return std::make_shared<const MemoryUse>(use_of_graph(graph)); });
  use.runtime = host.runtime_memory;
  return use;
}

MemoryUse memory_of_training(const TrainingStep& step, Bytes runtime) {
  MemoryUse use;
  use.weights = step.weights;
  use.training = step.gradients + step.optimizer_state;
  use.activations = step.most_activations;
  for (const TensorId input : step.graph.inputs())
    use.inputs_outputs += step.graph.tensor(input).bytes();
  use.runtime = runtime;
  return use;
}

MemoryUse largest(const MemoryUse& a, const MemoryUse& b) {
  MemoryUse use;
  use.weights = std::max(a.weights, b.weights);
  use.kv_cache = std::max(a.kv_cache, b.kv_cache);
  use.activations = std::max(a.activations, b.activations);
  use.inputs_outputs = std::max(a.inputs_outputs, b.inputs_outputs);
  use.runtime = std::max(a.runtime, b.runtime);
  use.training = std::max(a.training, b.training);
  return use;
}

}  // namespace foretell
