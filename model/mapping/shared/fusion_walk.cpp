#include "model/mapping/shared/fusion_walk.hpp"

#include <algorithm>

#include "model/base/errors.hpp"
#include "model/mapping/shared/graph_patterns.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {

void FusionWalk::walk() {
  const auto count = static_cast<OpId>(walked_.ops().size());
  for (OpId id = 0; id < count; ++id) {
    if (walked_.op(id).kind == "Softmax") take_attention(id);
  }
  for (OpId id = 0; id < count; ++id) {
    if (!is_taken(id)) {
      const FusionRule* rule = rule_of(id);
      if (rule == nullptr) {
        throw UserError("operator '" + walked_.op(id).name + "' (" + walked_.op(id).kind + ") " +
                        table_.unmapped() + "; docs/adding.md says what a mapping takes");
      }
      if (rule->is_view) {
        mark_taken(id);
      } else {
        visit(id, *rule);
      }
    }
    finish_attention(id);
  }
}

const FusionRule* FusionWalk::rule_of(OpId id) const {
  const std::vector<FusionRule>& rules = table_.rules(walked_.op(id).kind);
  const auto found = std::find_if(rules.begin(), rules.end(), [&](const FusionRule& rule) {
    return std::all_of(rule.when.begin(), rule.when.end(),
                       [&](FusionCondition condition) { return holds(condition, id); });
  });
  return found == rules.end() ? nullptr : &*found;
}

bool FusionWalk::holds(FusionCondition condition, OpId id) const {
  const Op& op = walked_.op(id);
  const auto second = [&]() -> const Tensor& { return walked_.tensor(op.inputs.at(1)); };
  switch (condition) {
    case FusionCondition::kElementwise:
      return is_elementwise(op.kind);
    case FusionCondition::kActivation:
      return is_activation(op.kind);
    case FusionCondition::kBinary:
      return is_binary(op.kind);
    case FusionCondition::kWeighted:
      return second().kind == TensorKind::kWeight;
    case FusionCondition::kOneMatrix:
      return second().shape.size() <= 2;
    case FusionCondition::kFourAxes:
      return walked_.tensor(op.outputs.front()).shape.size() == 4;
    case FusionCondition::kLastAxis:
      return axis_from_last(op) == 0;
    case FusionCondition::kAxisBeforeLast:
      return axis_from_last(op) == 1;
    case FusionCondition::kMadeOnce:
      return is_made_once(walked_, op);
    case FusionCondition::kRoll:
      return is_roll(op);
    default:
      return false;  // of another family
  }
}

std::int64_t FusionWalk::axis_from_last(const Op& op) const {
  const std::int64_t axis = integer_of(op, "axis");
  const auto rank = static_cast<std::int64_t>(walked_.tensor(op.inputs.front()).shape.size());
  return axis < 0 ? -1 - axis : rank - 1 - axis;
}

}  // namespace foretell
