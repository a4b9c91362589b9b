#include "model/predict/calls/gpu_memory.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "model/mapping/shared/fused_walk.hpp"
#include "model/mapping/shared/same_graph.hpp"
#include "model/predict/calls/memory_use.hpp"

namespace foretell {
namespace {

// A result lives from the operation that writes it to the last that reads it.
Bytes most_live_results(const Graph& graph, const FusionRules& rules) {
  const std::shared_ptr<const FusedGraph> fused = fused_graph(graph, rules);
  const std::vector<FusedOp>& ops = fused->ops;
  std::map<TensorId, std::size_t> last_reader;
  for (std::size_t i = 0; i < ops.size(); ++i) {
    for (const TensorAccess& read : ops[i].reads) last_reader[read.tensor] = i;
  }
  std::vector<double> change(ops.size() + 1, 0.0);
  for (std::size_t i = 0; i < ops.size(); ++i) {
    for (const TensorAccess& write : ops[i].writes) {
      const auto reader = last_reader.find(write.tensor);
      if (graph.tensor(write.tensor).kind != TensorKind::kActivation ||
          reader == last_reader.end() || reader->second < i)
        continue;
      change[i] += write.bytes.value();
      change[reader->second + 1] -= write.bytes.value();
    }
  }
  double live = 0;
  double most = 0;
  for (const double step : change) {
    live += step;
    most = std::max(most, live);
  }
  return Bytes(most);
}

struct KeptUses : KeptByGraph<MemoryUse> {};

}  // namespace

MemoryUse memory_of_gpu(const Graph& graph, const FusionRules& rules) {
  const auto make = [&] {
    auto use = std::make_shared<MemoryUse>(memory_of_core(graph, HostSpec{}));
    use->activations = most_live_results(graph, rules);
    return std::shared_ptr<const MemoryUse>(std::move(use));
  };
  return rules == FusionRules{} ? *kept_input<KeptUses>(graph, make) : *make();
}

}  // namespace foretell
