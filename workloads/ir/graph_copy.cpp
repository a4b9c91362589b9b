#include "workloads/ir/graph_copy.hpp"

#include <utility>

#include "model/base/errors.hpp"

namespace foretell {

GraphCopy::GraphCopy(const Graph& source, std::string prefix, SharedWeights& weights, Graph& graph)
    : source_(source),
      prefix_(std::move(prefix)),
      weights_(weights),
      graph_(graph),
      ids_(source.tensors().size(), kNoId) {}

void GraphCopy::enter_all() {
  for (std::size_t i = 0; i < ids_.size(); ++i) {
    if (source_.tensors()[i].producer == kNoId) enter(static_cast<TensorId>(i));
  }
}

void GraphCopy::copy(const Op& op) {
  std::vector<TensorId> inputs;
  for (const TensorId input : op.inputs) {
    if (id_of(input) == kNoId) {
      FORETELL_CHECK(source_.tensor(input).producer == kNoId,
                     "'" + op.name + "' is copied before what it reads");
      enter(input);
    }
    inputs.push_back(id_of(input));
  }
  graph_.add_op(prefix_ + op.name, op.kind, std::move(inputs), op.attributes, op.layer);
  const std::vector<TensorId> made = graph_.ops().back().outputs;
  FORETELL_CHECK(made.size() == op.outputs.size(), "an operator copied with its outputs");
  for (std::size_t i = 0; i < made.size(); ++i) {
    const Tensor& tensor = source_.tensor(op.outputs[i]);
    ids_.at(static_cast<std::size_t>(op.outputs[i])) = made[i];
    graph_.set_dtype(made[i], tensor.dtype);
    if (tensor.kind == TensorKind::kOutput) graph_.mark_output(made[i]);
    if (tensor.kind == TensorKind::kState) graph_.mark_state(made[i]);
    if (tensor.is_kept) graph_.keep(made[i]);
  }
}

void GraphCopy::enter(TensorId id) {
  const Tensor& tensor = source_.tensor(id);
  TensorId& made = ids_.at(static_cast<std::size_t>(id));
  if (tensor.kind == TensorKind::kWeight) {
    const auto [known, is_new] = weights_.try_emplace(tensor.name, kNoId);
    if (is_new) known->second = graph_.add_weight(tensor.name, tensor.shape, tensor.dtype);
    made = known->second;
  } else {
    const std::string name = prefix_ + tensor.name;
    made = tensor.kind == TensorKind::kState ? graph_.add_state(name, tensor.shape, tensor.dtype)
                                             : graph_.add_input(name, tensor.shape, tensor.dtype);
  }
  if (tensor.is_kept) graph_.keep(made);
}

}  // namespace foretell
