#include "workloads/ir/two_batches.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "model/base/errors.hpp"
#include "model/base/text.hpp"
#include "workloads/ir/operators.hpp"

namespace foretell {
namespace {

// Copies the operators of one half, a piece at a time.
class Half {
 public:
  Half(const Graph& source, std::string prefix, std::map<std::string, TensorId>& weights,
       Graph& graph)
      : source_(source), prefix_(std::move(prefix)), weights_(weights), graph_(graph) {
    ids_.assign(source.tensors().size(), kNoId);
    for (std::size_t i = 0; i < ids_.size(); ++i) {
      const Tensor& tensor = source.tensors()[i];
      if (tensor.producer == kNoId) ids_[i] = entering(tensor);
    }
  }

  bool is_done() const { return next_ == source_.ops().size(); }

  // Up to the next collectives, which stand side by side.
  void copy_piece() {
    bool exchanges = false;
    for (; !is_done(); ++next_) {
      const Op& op = source_.ops()[next_];
      if (exchanges && !is_collective(op.kind)) return;
      exchanges = is_collective(op.kind);
      copy(op);
    }
  }

 private:
  TensorId entering(const Tensor& tensor) {
    if (tensor.kind != TensorKind::kWeight) {
      const std::string name = prefix_ + tensor.name;
      const TensorId made = tensor.kind == TensorKind::kState
                                ? graph_.add_state(name, tensor.shape, tensor.dtype)
                                : graph_.add_input(name, tensor.shape, tensor.dtype);
      if (tensor.is_kept) graph_.keep(made);
      return made;
    }
    const auto [known, is_new] = weights_.try_emplace(tensor.name, kNoId);
    if (is_new) {
      known->second = graph_.add_weight(tensor.name, tensor.shape, tensor.dtype);
      if (tensor.is_kept) graph_.keep(known->second);
    }
    return known->second;
  }

  void copy(const Op& op) {
    std::vector<TensorId> inputs;
    for (const TensorId input : op.inputs)
      inputs.push_back(ids_.at(static_cast<std::size_t>(input)));
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

  const Graph& source_;
  std::string prefix_;
  std::map<std::string, TensorId>& weights_;
  Graph& graph_;
  std::vector<TensorId> ids_;  // in the graph, by tensor of the source
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
  std::map<std::string, TensorId> weights;
  Half ahead(first, "", weights, graph);
  Half after(second, std::string(kSecondHalf), weights, graph);
  while (!ahead.is_done() || !after.is_done()) {
    ahead.copy_piece();
    after.copy_piece();
  }
  return graph;
}

}  // namespace foretell
