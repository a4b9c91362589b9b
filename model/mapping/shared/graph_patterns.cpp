#include "model/mapping/shared/graph_patterns.hpp"

#include <algorithm>
#include <set>

#include "workloads/ir/attributes.hpp"

namespace foretell {

bool is_activation(std::string_view kind) {
  static const std::set<std::string_view> kKinds = {"Gelu",    "Tanh", "Relu", "Silu",
                                                    "Sigmoid", "Exp",  "Sqrt", "Erf"};
  return kKinds.count(kind) > 0;
}

bool is_binary(std::string_view kind) {
  return kind == "Add" || kind == "Sub" || kind == "Mul" || kind == "Div";
}

namespace {

bool is_score_rule(std::string_view kind) { return kind == "CausalMask" || kind == "Alibi"; }

bool moves_by(const Op& op, std::string_view function) {
  return op.kind == "Move" && text_of(op, "function", "") == function;
}

}  // namespace

bool is_elementwise(std::string_view kind) {
  return is_activation(kind) || is_binary(kind) || is_score_rule(kind) || kind == "BatchNorm" ||
         kind == "Elementwise";
}

bool is_roll(const Op& op) { return moves_by(op, "Roll"); }

bool is_made_once(const Graph& graph, const Op& op) {
  return moves_by(op, "Gather") && std::all_of(op.inputs.begin(), op.inputs.end(),
                                               [&](TensorId id) { return is_weight(graph, id); });
}

std::int64_t keys_of_pattern(const Graph& graph, const Op& attention) {
  const Shape& keys = graph.tensor(attention.inputs[1]).shape;
  const std::int64_t stride = integer_of(attention, "stride");
  const std::int64_t near = std::min(keys[2], integer_of(attention, "window"));
  const std::int64_t heads = graph.tensor(attention.inputs[0]).shape[1] / keys[1];
  return near + (keys[2] - near) * std::min(stride, heads) / stride;
}

double share_of_keys_read(const Graph& graph, const Op& attention) {
  const bool one = graph.tensor(attention.inputs[0]).shape[2] == 1;
  if (one && has_attribute(attention, "stride")) {
    return static_cast<double>(keys_of_pattern(graph, attention)) /
           static_cast<double>(graph.tensor(attention.inputs[1]).shape[2]);
  }
  if (!has_attribute(attention, "selected") || has_attribute(attention, "ratio")) return 1;
  const auto queries = static_cast<double>(graph.tensor(attention.inputs[0]).shape[2]);
  const auto keys = static_cast<double>(graph.tensor(attention.inputs[1]).shape[2]);
  const auto chosen = static_cast<double>(integer_of(attention, "selected"));
  return std::min(1.0, chosen * queries / keys);
}

OpId single_consumer(const Graph& graph, TensorId id) {
  const Tensor& tensor = graph.tensor(id);
  if (tensor.kind == TensorKind::kOutput || tensor.consumers.size() != 1) return kNoId;
  return tensor.consumers.front();
}

std::vector<OpId> AttentionPattern::ops() const {
  std::vector<OpId> all = between;
  all.insert(all.end(), {scores, softmax, context});
  std::sort(all.begin(), all.end());
  return all;
}

std::optional<AttentionPattern> match_attention(const Graph& graph, OpId softmax) {
  AttentionPattern found;
  found.softmax = softmax;
  OpId up = graph.tensor(graph.op(softmax).inputs[0]).producer;
  for (; up != kNoId && graph.op(up).kind != "MatMul";
       up = graph.tensor(graph.op(up).inputs[0]).producer) {
    const std::string& kind = graph.op(up).kind;
    if (!is_binary(kind) && !is_score_rule(kind)) return std::nullopt;
    found.between.push_back(up);
  }
  const OpId down = single_consumer(graph, graph.op(softmax).outputs.front());
  if (up == kNoId || down == kNoId || graph.op(down).kind != "MatMul") return std::nullopt;
  found.scores = up;
  found.context = down;
  Shape q = graph.tensor(graph.op(up).inputs[0]).shape;
  Shape k = graph.tensor(graph.op(up).inputs[1]).shape;
  const bool in_windows = q.size() == 5 && k.size() == 5 && k[2] == q[2] && k[2] > 1;
  if (in_windows) {  // of every sample: [batch, windows, heads, length, head_dim]
    q = {q[0] * q[1], q[2], q[3], q[4]};
    k = {k[0] * k[1], k[2], k[3], k[4]};
  } else if (q.size() == 5) {  // grouped queries: [batch, kv_heads, group, length, head_dim]
    q = {q[0], q[1] * q[2], q[3], q[4]};
    k = {k[0], k[1], k[3], k[4]};
  }
  if (q.size() == 3 && k.size() == 3) {  // heads are among the samples
    q = {q[0], 1, q[1], q[2]};
    k = {k[0], 1, k[1], k[2]};
  }
  if (q.size() != 4 || k.size() != 4) return std::nullopt;
  found.batch = q[0];
  found.heads = q[1];
  found.queries = q[2];
  found.head_dim = q[3];
  found.kv_heads = k[1];
  found.keys = graph.tensor(graph.op(up).outputs.front()).shape.back();
  return found;
}

}  // namespace foretell
