#include "model/mapping/shared/data_of.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include "model/mapping/shared/graph_patterns.hpp"

namespace foretell {
namespace {

// Operators whose result lies where their operand lies.
bool looks_through(std::string_view kind) {
  static const std::set<std::string_view> kKinds = {"Reshape", "Split", "Slice", "Transpose",
                                                    "UpdateCache"};
  return kKinds.count(kind) > 0;
}

// Pieces that only attention and the update of a cache read.
bool is_cache_or_query(const Graph& graph, TensorId id) {
  const std::vector<OpId>& readers = graph.tensor(id).consumers;
  return !readers.empty() && std::all_of(readers.begin(), readers.end(), [&](OpId reader) {
    const std::string& kind = graph.op(reader).kind;
    return kind == "UpdateCache" || kind == "Attention";
  });
}

}  // namespace

TensorId data_of(const Graph& graph, TensorId id) {
  for (OpId up = graph.tensor(id).producer; up != kNoId; up = graph.tensor(id).producer) {
    const Op& op = graph.op(up);
    const bool joins = op.kind == "Concat" && op.layer != kNoId && is_cache_or_query(graph, id);
    if (!looks_through(op.kind) && !joins && !is_roll(op) && !is_made_once(graph, op)) break;
    id = op.inputs.front();
  }
  return id;
}

}  // namespace foretell
