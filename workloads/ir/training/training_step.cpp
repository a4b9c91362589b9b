#include "workloads/ir/training/training_step.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "model/base/errors.hpp"
#include "workloads/ir/training/gradient_builder.hpp"

namespace foretell {
namespace {

// State per parameter: none, a velocity, two moments.
int moments_of(Optimizer optimizer) {
  return optimizer == Optimizer::kSgd ? 0 : optimizer == Optimizer::kMomentum ? 1 : 2;
}

constexpr Bytes kMaster(4);  // FP32, like the state of the optimiser

bool is_view(const Op& op) {
  return op.kind == "Reshape" || op.kind == "Transpose" || op.kind == "Split" || op.kind == "Slice";
}

// The tensor whose memory a view looks at.
TensorId root_of(const Graph& graph, TensorId id) {
  for (OpId up = graph.tensor(id).producer; up != kNoId && is_view(graph.op(up));
       up = graph.tensor(id).producer)
    id = graph.op(up).inputs.front();
  return id;
}

void check_types(const Graph& graph) {
  for (const Tensor& tensor : graph.tensors()) {
    if (tensor.kind == TensorKind::kState) {
      throw UserError("training: '" + tensor.name +
                      "' is a cache that lives from call to call; train a forward pass");
    }
    if (tensor.kind != TensorKind::kWeight) continue;
    const DType type = tensor.dtype;
    if (size_of(type) < Bytes(2)) {
      throw UserError("training: weights of type " + std::string(to_string(type)) +
                      " are not trained; take --dtype bf16, fp16, bf16-matmul, tf32 or fp32");
    }
  }
}

// While it is trained, a batch norm measures mean and variance of every channel: a pass of its own.
void add_statistics(Graph& graph, const Op& op, const std::vector<TensorId>& inputs) {
  const Shape channels = {graph.tensor(inputs.front()).shape[1]};
  const TensorId sums =
      graph.add_op(op.name + ".statistics", "Gradient", {inputs.front()},
                   {{"of", std::string("Parameters")}, {"shape", channels}}, op.layer);
  graph.set_dtype(sums, DType::kFp32);
}

// The same operators; what leaves the network is read by the loss instead.
struct ForwardPass {
  Graph graph;
  std::vector<TensorId> outputs;
};

ForwardPass without_outputs(const Graph& forward) {
  ForwardPass pass{Graph(forward.name()), {}};
  Graph& graph = pass.graph;
  std::vector<TensorId> ids(forward.tensors().size(), kNoId);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const Tensor& tensor = forward.tensors()[i];
    if (tensor.kind == TensorKind::kInput)
      ids[i] = graph.add_input(tensor.name, tensor.shape, tensor.dtype);
    if (tensor.kind == TensorKind::kWeight)
      ids[i] = graph.add_weight(tensor.name, tensor.shape, tensor.dtype);
  }
  for (const Op& op : forward.ops()) {
    std::vector<TensorId> inputs;
    for (const TensorId input : op.inputs) inputs.push_back(ids[static_cast<std::size_t>(input)]);
    if (op.kind == "BatchNorm") add_statistics(graph, op, inputs);
    graph.add_op(op.name, op.kind, std::move(inputs), op.attributes, op.layer);
    const std::vector<TensorId> outputs = graph.ops().back().outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      ids[static_cast<std::size_t>(op.outputs[i])] = outputs[i];
      graph.set_dtype(outputs[i], forward.tensor(op.outputs[i]).dtype);
    }
  }
  for (const TensorId output : forward.outputs())
    pass.outputs.push_back(ids[static_cast<std::size_t>(output)]);
  return pass;
}

class Derivation {
 public:
  Derivation(ForwardPass forward, Optimizer optimizer, int copies)
      : step_{std::move(forward.graph)},
        graph_(step_.graph),
        forward_ops_(static_cast<OpId>(graph_.ops().size())),
        builder_(graph_),
        optimizer_(optimizer),
        copies_(copies) {
    step_.first_backward = forward_ops_;
    step_.forward = graph_.total_flops();
    collect_weights();
    add_losses(forward.outputs);
  }

  TrainingStep run() {
    for (OpId id = forward_ops_ - 1; id >= 0; --id) {
      const Op op = graph_.op(id);
      const bool reached = std::any_of(op.outputs.begin(), op.outputs.end(), [this](TensorId out) {
        return builder_.is_wanted(out) && builder_.has(out);
      });
      if (reached) differentiate(builder_, op);
      const bool ends_layer = id == 0 || graph_.op(id - 1).layer != op.layer;
      if (ends_layer) update_weights(id, op);
    }
    measure();
    return std::move(step_);
  }

 private:
  void collect_weights() {
    for (TensorId id = 0; id < static_cast<TensorId>(graph_.tensors().size()); ++id) {
      const Tensor& tensor = graph_.tensor(id);
      if (tensor.kind != TensorKind::kWeight || tensor.consumers.empty()) continue;
      waiting_.push_back(id);
      step_.weights += tensor.bytes();
    }
    if (waiting_.empty()) throw UserError("training: the network has no weights to train");
  }

  // For every output that a weight influences: its error is known, and what it says of the output.
  void add_losses(const std::vector<TensorId>& outputs) {
    for (const TensorId id : outputs) {
      if (!builder_.is_wanted(id)) continue;
      Op loss;
      loss.name = graph_.tensor(id).name + ".loss";
      builder_.enter(loss);
      builder_.give(id, builder_.derive("", "Loss", {id}, id));
    }
  }

  // Weights that no operator before `id` reads: their gradients are complete.
  void update_weights(OpId id, const Op& op) {
    std::vector<TensorId> ready;
    std::vector<TensorId> others;
    for (const TensorId weight : waiting_) {
      const bool complete = graph_.tensor(weight).consumers.front() >= id;
      (complete && builder_.has(weight) ? ready : others).push_back(weight);
    }
    waiting_ = std::move(others);
    if (ready.empty()) return;
    Op update;
    update.name =
        op.layer == kNoId ? "update." + op.name : "update.layer." + std::to_string(op.layer);
    update.layer = op.layer;
    builder_.enter(update);
    emit_update(ready);
  }

  void emit_update(const std::vector<TensorId>& weights) {
    std::vector<TensorId> gradients;
    for (const TensorId weight : weights) {
      gradients.push_back(builder_.gradient(weight));
      gradients_.insert(root_of(graph_, gradients.back()));
      step_.gradients += graph_.tensor(weight).bytes();
      step_.parameters += element_count(graph_.tensor(weight).shape);
    }
    if (copies_ > 1) gradients = all_reduced(gradients);
    std::vector<TensorId> inputs = weights;
    inputs.insert(inputs.end(), gradients.begin(), gradients.end());
    for (const TensorId weight : weights) {
      const Tensor tensor = graph_.tensor(weight);
      const bool narrow = size_of(tensor.dtype) < kMaster;
      const int states = moments_of(optimizer_) + (narrow ? 1 : 0);
      for (int i = 0; i < states; ++i) {
        inputs.push_back(graph_.add_state(tensor.name + ".state." + std::to_string(i), tensor.shape,
                                          DType::kFp32));
        step_.optimizer_state += graph_.tensor(inputs.back()).bytes();
      }
    }
    graph_.add_op(builder_.name(""), "Update", inputs,
                  {{"optimizer", std::string(to_string(optimizer_))},
                   {"weights", static_cast<std::int64_t>(weights.size())}},
                  builder_.layer());
    const std::vector<TensorId> outputs = graph_.ops().back().outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      const std::size_t input = i < weights.size() ? i : i + weights.size();
      graph_.set_dtype(outputs[i], graph_.tensor(inputs[input]).dtype);
      graph_.mark_state(outputs[i]);
    }
  }

  std::vector<TensorId> all_reduced(const std::vector<TensorId>& gradients) {
    std::vector<DType> types;
    for (const TensorId gradient : gradients) {
      types.push_back(graph_.tensor(gradient).dtype);
      step_.all_reduce += graph_.tensor(gradient).bytes();
    }
    graph_.add_op(builder_.name("all_reduce"), "AllReduce", gradients,
                  {{"ranks", std::int64_t{copies_}}}, builder_.layer());
    std::vector<TensorId> sums = graph_.ops().back().outputs;
    for (std::size_t i = 0; i < sums.size(); ++i) {
      graph_.set_dtype(sums[i], types[i]);
      gradients_.insert(sums[i]);
    }
    return sums;
  }

  void measure() {
    for (OpId id = forward_ops_; id < static_cast<OpId>(graph_.ops().size()); ++id)
      (graph_.op(id).kind == "Update" ? step_.update : step_.backward) += graph_.flops(id);
    measure_activations();
  }

  // An activation lives from its operator to the last that reads it or a view of it.
  void measure_activations() {
    std::map<TensorId, OpId> last_reader;
    for (const Tensor& tensor : graph_.tensors()) {
      if (tensor.consumers.empty()) continue;
      const auto id = static_cast<TensorId>(&tensor - graph_.tensors().data());
      OpId& last = last_reader.try_emplace(root_of(graph_, id), 0).first->second;
      last = std::max(last, tensor.consumers.back());
    }
    std::vector<double> change(graph_.ops().size() + 1, 0.0);
    for (const auto& [id, last] : last_reader) {
      const Tensor& tensor = graph_.tensor(id);
      if (tensor.producer == kNoId || gradients_.count(id) > 0) continue;
      change[static_cast<std::size_t>(tensor.producer)] += tensor.bytes().value();
      change[static_cast<std::size_t>(last) + 1] -= tensor.bytes().value();
      if (tensor.producer < forward_ops_ && last >= forward_ops_)
        step_.saved_activations += tensor.bytes();
    }
    double live = 0;
    double most = 0;
    for (const double each : change) {
      live += each;
      most = std::max(most, live);
    }
    step_.most_activations = Bytes(most);
  }

  TrainingStep step_;
  Graph& graph_;
  OpId forward_ops_;
  GradientBuilder builder_;
  Optimizer optimizer_;
  int copies_;
  std::vector<TensorId> waiting_;  // weights that have not been updated
  std::set<TensorId> gradients_;   // of weights
};

}  // namespace

std::string_view to_string(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kSgd:
      return "sgd";
    case Optimizer::kMomentum:
      return "momentum";
    case Optimizer::kAdam:
      return "adam";
  }
  throw InternalError(__FILE__, __LINE__, "an optimiser without a name");
}

Optimizer parse_optimizer(std::string_view name) {
  std::vector<std::string> names;
  for (const Optimizer optimizer : {Optimizer::kSgd, Optimizer::kMomentum, Optimizer::kAdam}) {
    if (to_string(optimizer) == name) return optimizer;
    names.emplace_back(to_string(optimizer));
  }
  throw unknown_name("optimizer", name, names);
}

TrainingStep derive_training_step(const Graph& forward, Optimizer optimizer, int copies) {
  check_types(forward);
  return Derivation(without_outputs(forward), optimizer, copies).run();
}

}  // namespace foretell
