// The walk of every fusion over a graph, whatever the family of devices groups. Attentions are
// found first, each from its softmax, so that nothing else takes their operators. Then operators
// come in order, but for those that something has taken, each with its rule of the family's table;
// an attention is done where its product with the values stands.
#pragma once

#include <vector>

#include "model/mapping/shared/fusion_table.hpp"
#include "workloads/ir/graph.hpp"

namespace foretell {

class FusionWalk {
 public:
  FusionWalk(const Graph& graph, const FusionTable& table)
      : walked_(graph), table_(table), taken_(graph.ops().size(), false) {}
  virtual ~FusionWalk() = default;
  FusionWalk(const FusionWalk&) = delete;
  FusionWalk& operator=(const FusionWalk&) = delete;

 protected:
  void walk();  // UserError for an operator without a rule

  bool is_taken(OpId id) const { return taken_[static_cast<std::size_t>(id)]; }
  void mark_taken(OpId id) { taken_[static_cast<std::size_t>(id)] = true; }
  // As the next operator of a kernel.
  void take(std::vector<OpId>& kernel, OpId id) {
    kernel.push_back(id);
    mark_taken(id);
  }

  const FusionTable& table() const { return table_; }
  // The first rule that fits; null when there is none.
  const FusionRule* rule_of(OpId id) const;
  // Conditions about the graph alone; a family adds those that are its own.
  virtual bool holds(FusionCondition condition, OpId id) const;
  // 0: the last axis of the input, 1: the one before it.
  std::int64_t axis_from_last(const Op& op) const;

  // Takes the operators of the attention that a softmax is part of, if it is part of one.
  virtual void take_attention(OpId softmax) = 0;
  // The kernel that begins with an operator, which is no view.
  virtual void visit(OpId id, const FusionRule& rule) = 0;
  // The attention that an operator ends, if it ends one.
  virtual void finish_attention(OpId context) = 0;

 private:
  const Graph& walked_;
  const FusionTable& table_;
  std::vector<bool> taken_;
};

}  // namespace foretell
