#include "model/mapping/gpu/narrow_activations.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "model/mapping/shared/graph_patterns.hpp"

namespace foretell {
namespace {

bool is_convolution(const Op& op) { return op.kind == "Conv" || op.kind == "ConvTranspose"; }

// Kinds of operators of convolutional networks.
bool takes_narrow(const std::string& kind) {
  static const std::set<std::string> kKinds = {
      "Conv",  "ConvTranspose", "BatchNorm", "Add",         "Sub",    "Mul",
      "Max",   "Min",           "Relu",      "LeakyRelu",   "PRelu",  "Elu",
      "Clip",  "Sigmoid",       "Silu",      "HardSwish",   "Mish",   "Tanh",
      "Gelu",  "HardSigmoid",   "MaxPool",   "AveragePool", "Concat", "Split",
      "Slice", "Reshape",       "Transpose", "Resize",      "Pad",    "GlobalAveragePool"};
  return kKinds.count(kind) > 0;
}

class Narrower {
 public:
  Narrower(const PrecisionPolicy& policy, Graph& graph, bool residuals)
      : policy_(policy), graph_(graph), residuals_(residuals) {
    const bool caches =
        std::any_of(graph.tensors().begin(), graph.tensors().end(),
                    [](const Tensor& tensor) { return tensor.kind == TensorKind::kState; });
    everywhere_ = policy.matmul_compute == DType::kInt8 && !caches;
  }

  void run() {
    std::vector<bool> reached(graph_.tensors().size());
    for (const Op& op : graph_.ops()) {
      if (!is_narrow(op)) continue;
      const bool begins = is_quantised_product(op);
      const bool follows = std::any_of(op.inputs.begin(), op.inputs.end(), [&](TensorId id) {
        return reached[static_cast<std::size_t>(id)];
      });
      if (!begins && !follows) continue;
      for (const TensorId id : op.outputs) {
        reached[static_cast<std::size_t>(id)] = true;
        if (stays_narrow(id) && (residuals_ || !is_residual(op)))
          graph_.set_dtype(id, policy_.matmul_compute);
      }
    }
  }

 private:
  bool is_narrow(const Op& op) const {
    if (takes_narrow(op.kind) || is_roll(op)) return true;
    return everywhere_ && (op.kind == "MatMul" || op.kind == "LayerNorm");
  }

  // The sum of two activations of one shape.
  bool is_residual(const Op& op) const {
    if (op.kind != "Add" || op.inputs.size() != 2) return false;
    const Tensor& left = graph_.tensor(op.inputs[0]);
    const Tensor& right = graph_.tensor(op.inputs[1]);
    return left.kind == TensorKind::kActivation && right.kind == TensorKind::kActivation &&
           left.shape == right.shape;
  }

  bool is_quantised_product(const Op& op) const {
    const bool product = is_convolution(op) || (everywhere_ && op.kind == "MatMul");
    return product && graph_.tensor(op.inputs[1]).dtype == policy_.matmul_compute;
  }

  bool stays_narrow(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    return tensor.kind == TensorKind::kActivation && !tensor.consumers.empty() &&
           std::all_of(tensor.consumers.begin(), tensor.consumers.end(),
                       [this](OpId reader) { return is_narrow(graph_.op(reader)); });
  }

  const PrecisionPolicy& policy_;
  Graph& graph_;
  bool residuals_ = true;
  bool everywhere_ = false;  // not in convolutional parts alone
};

void widen_convolutions(const PrecisionPolicy& policy, Graph& graph) {
  for (const Op& op : graph.ops()) {
    if (!is_convolution(op)) continue;
    const Tensor& weight = graph.tensor(op.inputs[1]);
    if (weight.kind == TensorKind::kWeight && weight.dtype == policy.matmul_compute)
      graph.set_dtype(op.inputs[1], policy.vector);
  }
}

}  // namespace

void narrow_activations(const PrecisionPolicy& policy, Graph* graph, bool narrow_residuals) {
  const DType compute = policy.matmul_compute;
  if (compute == DType::kNvfp4) widen_convolutions(policy, *graph);
  if (compute == DType::kInt8 || compute == DType::kFp8)
    Narrower(policy, *graph, narrow_residuals).run();
}

}  // namespace foretell
