#include "model/mapping/shared/epilogue.hpp"

#include <algorithm>
#include <optional>

#include "model/mapping/shared/graph_patterns.hpp"

namespace foretell {
namespace {

std::optional<EpilogueOp> part_of(const Graph& graph, TensorId result, OpId id,
                                  const EpilogueRules& rules,
                                  const std::function<bool(TensorId)>& is_there) {
  const Op& op = graph.op(id);
  if (op.kind == "BatchNorm") return EpilogueOp{EpiloguePart::kNorm, id, kNoId};
  if (is_activation(op.kind) ||
      (rules.formulas && op.kind == "Elementwise" && op.inputs.size() == 1))
    return EpilogueOp{EpiloguePart::kActivation, id, kNoId};
  if (op.kind != "Add" || op.inputs.size() != 2) return std::nullopt;
  const bool is_second = op.inputs[0] == result;
  const TensorId other = is_second ? op.inputs[1] : op.inputs[0];
  const Tensor& tensor = graph.tensor(other);
  const Shape& shape = graph.tensor(result).shape;
  if (is_weight(graph, other)) {
    const bool fits = element_count(tensor.shape) == shape.back();
    if (!fits || (!is_second && !rules.bias_on_either_side)) return std::nullopt;
    return EpilogueOp{EpiloguePart::kBias, id, other};
  }
  if (tensor.shape != shape || !is_there(other)) return std::nullopt;
  return EpilogueOp{EpiloguePart::kResidual, id, other};
}

}  // namespace

std::vector<EpilogueOp> epilogue_of(const Graph& graph, TensorId result, const EpilogueRules& rules,
                                    const std::function<bool(OpId)>& is_taken,
                                    const std::function<bool(TensorId)>& is_there) {
  std::vector<EpilogueOp> found;
  auto step = rules.steps.begin();
  for (OpId next = single_consumer(graph, result); next != kNoId && !is_taken(next);
       next = single_consumer(graph, result)) {
    const std::optional<EpilogueOp> part = part_of(graph, result, next, rules, is_there);
    if (!part) break;
    step = std::find_if(step, rules.steps.end(), [&part](const EpilogueStep& allowed) {
      return allowed.parts.count(part->part) > 0;
    });
    if (step == rules.steps.end()) break;
    if (!step->repeats) ++step;
    found.push_back(*part);
    result = graph.op(next).outputs.front();
  }
  return found;
}

}  // namespace foretell
