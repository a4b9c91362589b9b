// The walk of every fusion over a graph, whatever the family of devices groups. Attentions are
// found first, each from its softmax, so that nothing else takes their operators. Then operators
// come in order, but for those that something has taken; an attention is done where its product
// with the values stands.
#pragma once

#include <string_view>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

class FusionWalk {
 public:
  explicit FusionWalk(const Graph& graph) : walked_(graph), taken_(graph.ops().size(), false) {}
  virtual ~FusionWalk() = default;
  FusionWalk(const FusionWalk&) = delete;
  FusionWalk& operator=(const FusionWalk&) = delete;

 protected:
  void walk() {
    const auto count = static_cast<OpId>(walked_.ops().size());
    for (OpId id = 0; id < count; ++id) {
      if (walked_.op(id).kind == "Softmax") take_attention(id);
    }
    for (OpId id = 0; id < count; ++id) {
      if (!is_taken(id)) visit(id);
      finish_attention(id);
    }
  }

  bool is_taken(OpId id) const { return taken_[static_cast<std::size_t>(id)]; }
  void mark_taken(OpId id) { taken_[static_cast<std::size_t>(id)] = true; }
  // As the next operator of a kernel.
  void take(std::vector<OpId>& kernel, OpId id) {
    kernel.push_back(id);
    mark_taken(id);
  }

  // Takes the operators of the attention that a softmax is part of, if it is part of one.
  virtual void take_attention(OpId softmax) = 0;
  // The kernel that begins with an operator.
  virtual void visit(OpId id) = 0;
  // The attention that an operator ends, if it ends one.
  virtual void finish_attention(OpId context) = 0;

 private:
  const Graph& walked_;
  std::vector<bool> taken_;
};

}  // namespace foretell
