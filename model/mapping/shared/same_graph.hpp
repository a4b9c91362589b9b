// Is a graph the same as another one, to the last name? Then everything that follows from it alone
// is, too.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <utility>

#include "model/base/kept_inputs.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

// Bound of all graphs that one kind of value is kept for: some 100 MB.
inline constexpr std::size_t kMaxKeptOperators = 100'000;

bool same_graph(const Graph& a, const Graph& b);

// Values that follow from a graph alone. Of those that were asked for longest ago it forgets as
// many as are needed for all graphs together to have no more than `kMaxOperators`. Each kind of
// values is a type of its own that derives from it (model/base/kept_inputs.hpp).
template <class Value, std::size_t kMaxOperators = kMaxKeptOperators>
class KeptByGraph {
 public:
  template <class Make>
  std::shared_ptr<const Value> get(const Graph& graph, const Make& make) {
    for (auto known = kept_.begin(); known != kept_.end(); ++known) {
      if (!same_graph(known->first, graph)) continue;
      kept_.splice(kept_.begin(), kept_, known);
      return known->second;
    }
    std::shared_ptr<const Value> value = make();
    operators_ += graph.ops().size();
    kept_.emplace_front(graph, value);
    while (operators_ > kMaxOperators) {
      operators_ -= kept_.back().first.ops().size();
      kept_.pop_back();
    }
    return value;
  }

  std::size_t size() const { return kept_.size(); }

 private:
  std::size_t operators_ = 0;
  std::list<std::pair<Graph, std::shared_ptr<const Value>>> kept_;  // the last asked for first
};

}  // namespace foretell
