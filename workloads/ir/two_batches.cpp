#include "workloads/ir/two_batches.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "model/base/text.hpp"
#include "workloads/ir/graph_copy.hpp"
#include "workloads/ir/operators.hpp"

namespace foretell {
namespace {

// Copies the operators of one half, a piece at a time.
class Half {
 public:
  Half(const Graph& source, std::string prefix, SharedWeights& weights, Graph& graph)
      : source_(source), copy_(source, std::move(prefix), weights, graph) {
    copy_.enter_all();
  }

  bool is_done() const { return next_ == source_.ops().size(); }

  // Up to the next collectives, which stand side by side.
  void copy_piece() {
    bool exchanges = false;
    for (; !is_done(); ++next_) {
      const Op& op = source_.ops()[next_];
      if (exchanges && !is_collective(op.kind)) return;
      exchanges = is_collective(op.kind);
      copy_.copy(op);
    }
  }

 private:
  const Graph& source_;
  GraphCopy copy_;
  std::size_t next_ = 0;
};

}  // namespace

bool is_collective(std::string_view kind) {
  const std::vector<OperatorInfo>& table = operator_table();
  return std::any_of(table.begin(), table.end(), [kind](const OperatorInfo& info) {
    return info.kind == kind &&
           std::count(info.attributes.begin(), info.attributes.end(), "ranks") > 0;
  });
}

bool is_in_turns(const Graph& graph) {
  return !graph.ops().empty() && starts_with(graph.ops().back().name, kSecondHalf);
}

Graph in_turns(const Graph& first, const Graph& second) {
  Graph graph(first.name());
  SharedWeights weights;
  Half ahead(first, "", weights, graph);
  Half after(second, std::string(kSecondHalf), weights, graph);
  while (!ahead.is_done() || !after.is_done()) {
    ahead.copy_piece();
    after.copy_piece();
  }
  return graph;
}

}  // namespace foretell
