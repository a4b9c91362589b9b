#include "model/app/serving/steps/attention_part.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "workloads/ir/graph_copy.hpp"

namespace foretell {
namespace {

bool reads_weights(const Graph& graph, const Op& op) {
  return std::any_of(op.inputs.begin(), op.inputs.end(), [&graph](TensorId input) {
    return graph.tensor(input).kind == TensorKind::kWeight;
  });
}

// By layer: the product with weights after its attention, which is all of a kernel by then.
std::map<std::int32_t, OpId> ends_of_attention(const Graph& graph) {
  std::map<std::int32_t, OpId> ends;
  std::set<std::int32_t> open;  // layers whose attention has begun
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    if (mixes_tokens(op)) open.insert(op.layer);
    if (open.count(op.layer) == 0) continue;
    ends[op.layer] = static_cast<OpId>(i);
    if (op.kind == "MatMul" && reads_weights(graph, op)) open.erase(op.layer);
  }
  return ends;
}

}  // namespace

bool is_of_ranks(std::string_view op) {
  return op.find(".attention.ring.") != std::string_view::npos ||
         op.find(".attention.parts.") != std::string_view::npos;
}

bool mixes_tokens(const Op& op) {
  static const std::set<std::string_view> kKinds = {"Attention", "Indexer", "Compress", "Scan",
                                                    "ShortConv"};
  return kKinds.count(op.kind) > 0 || is_of_ranks(op.name) ||
         op.name.find(".attention.scores") != std::string::npos;
}

std::vector<AlikeLayers> attention_kinds(const Graph& graph, std::int64_t layers) {
  const std::map<std::int32_t, OpId> ends = ends_of_attention(graph);
  std::vector<AlikeLayers> kinds = layer_kinds(graph, layers, [&](OpId op) {
    const auto end = ends.find(graph.op(op).layer);
    return end != ends.end() && op <= end->second;
  });
  const auto has_none = [&](const AlikeLayers& kind) {
    return ends.count(static_cast<std::int32_t>(kind.first)) == 0;
  };
  kinds.erase(std::remove_if(kinds.begin(), kinds.end(), has_none), kinds.end());
  return kinds;
}

Graph up_to_attention(const Graph& graph) {
  OpId last = kNoId;
  for (const auto& [layer, end] : ends_of_attention(graph)) last = std::max(last, end);
  if (last == kNoId) return graph;
  Graph part(graph.name());
  SharedWeights weights;
  GraphCopy copy(graph, "", weights, part);
  for (OpId op = 0; op <= last; ++op) copy.copy(graph.op(op));
  for (const TensorId output : graph.op(last).outputs) part.mark_output(copy.id_of(output));
  return part;
}

}  // namespace foretell
