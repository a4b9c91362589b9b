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

// Of all graphs that one kind of value is kept for: some 100 MB.
inline constexpr std::size_t kMostKeptOperators = 100'000;

bool same_graph(const Graph& a, const Graph& b);

// Values that follow from a graph alone, while inputs are kept (model/base/kept_inputs.hpp). Of
// those that were asked for longest ago it forgets as many as are needed for all graphs together to
// have no more than `most_operators`.
template <class Value>
class KeptByGraph {
 public:
  explicit KeptByGraph(std::size_t most_operators) : most_operators_(most_operators) {}

  template <class Make>
  std::shared_ptr<const Value> get(const Graph& graph, const Make& make) {
    if (!inputs_are_kept()) return std::make_shared<const Value>(make(graph));
    for (auto known = kept_.begin(); known != kept_.end(); ++known) {
      if (!same_graph(known->first, graph)) continue;
      kept_.splice(kept_.begin(), kept_, known);
      return known->second;
    }
    auto value = std::make_shared<const Value>(make(graph));
    operators_ += graph.ops().size();
    kept_.emplace_front(graph, value);
    while (operators_ > most_operators_) {
      operators_ -= kept_.back().first.ops().size();
      kept_.pop_back();
    }
    return value;
  }

  std::size_t size() const { return kept_.size(); }

 private:
  std::size_t most_operators_;
  std::size_t operators_ = 0;
  std::list<std::pair<Graph, std::shared_ptr<const Value>>> kept_;  // the last asked for first
};

}  // namespace foretell
