// What the derivatives of all operators use: gradients that add up, operators with the types and
// the layer of the backward pass.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workloads/ir/graph.hpp"

namespace foretell {

class GradientBuilder {
 public:
  // `graph`: the forward pass, to which is appended.
  explicit GradientBuilder(Graph& graph);

  const Graph& graph() const { return graph_; }
  const Shape& shape(TensorId id) const { return graph_.tensor(id).shape; }
  bool is_wanted(TensorId id) const { return wanted_[static_cast<std::size_t>(id)]; }
  bool has(TensorId id) const { return gradients_.count(id) > 0; }
  TensorId gradient(TensorId id) const { return gradients_.at(id); }

  // The operator whose derivative is next: names and layers follow it.
  void enter(const Op& op);
  // An operator of the backward pass; `part` tells several of one derivative apart. The result has
  // the type of `like`.
  TensorId add(std::string_view part, std::string_view kind, std::vector<TensorId> inputs,
               std::map<std::string, Attribute> attributes, TensorId like);
  // The derivative `of` a function, of the shape and type of `like`.
  TensorId derive(std::string_view part, std::string_view of, std::vector<TensorId> inputs,
                  TensorId like);
  TensorId reshape(std::string_view part, TensorId x, const Shape& shape);
  // The last two axes change places.
  TensorId transpose(std::string_view part, TensorId x);
  // Adds to the gradient of a tensor of the forward pass; sums over axes that were broadcast.
  void give(TensorId id, TensorId gradient);

  std::string name(std::string_view part) const;
  std::int32_t layer() const { return layer_; }
  Graph& mutable_graph() { return graph_; }

 private:
  TensorId sum_to(TensorId gradient, TensorId like);

  Graph& graph_;
  std::vector<bool> wanted_;  // of tensors of the forward pass: a weight influences it
  std::map<TensorId, TensorId> gradients_;
  std::string scope_;
  std::int32_t layer_ = kNoId;
  std::int32_t layers_ = 0;
  std::map<std::string, int> parts_;  // how often a name was taken
};

// Gives the gradients of the inputs of `op`, given those of its outputs. UserError for an operator
// that has no derivative.
void differentiate(GradientBuilder& builder, const Op& op);

}  // namespace foretell
