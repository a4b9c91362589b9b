#include "workloads/ir/general_form.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "model/base/errors.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {
namespace {

using Attributes = std::map<std::string, Attribute>;

class Rewriter {
 public:
  Rewriter(const Graph& from, const PowerLaw& law)
      : from_(from), law_(law), to_(from.name()), place_(from.tensors().size(), kNoId) {}

  Graph run() {
    for (const TensorId id : from_.inputs()) known(id);
    const std::vector<Op>& ops = from_.ops();
    for (std::size_t i = 0; i < ops.size(); ++i) {
      const Op& op = ops[i];
      layer_ = op.layer;
      if (op.kind == "ExpertExchange") {
        i += exchanges_from(i) - 1;
      } else if (op.kind == "Attention") {
        attention(op);
      } else if (op.kind == "Route") {
        route(op);
      } else if (op.kind == "Experts") {
        experts(op);
      } else if (op.kind == "ExpertMatMul") {
        expert_product(op);
      } else if (op.kind == "Reshape") {
        reshape(op);
      } else {
        copy(op);
      }
    }
    for (const Tensor& tensor : from_.tensors()) {
      if (tensor.kind == TensorKind::kWeight && tensor.consumers.empty())
        to_.add_weight(tensor.name, tensor.shape, tensor.dtype);
    }
    return std::move(to_);
  }

 private:
  TensorId& place(TensorId id) { return place_[static_cast<std::size_t>(id)]; }

  TensorId known(TensorId id) {
    TensorId& there = place(id);
    if (there != kNoId) return there;
    const Tensor& tensor = from_.tensor(id);
    FORETELL_CHECK(tensor.producer == kNoId, "'" + tensor.name + "' is read before it is made");
    if (tensor.kind == TensorKind::kInput) {
      there = to_.add_input(tensor.name, tensor.shape, tensor.dtype);
    } else if (tensor.kind == TensorKind::kState) {
      there = to_.add_state(tensor.name, tensor.shape, tensor.dtype);
    } else {
      there = to_.add_weight(tensor.name, tensor.shape, tensor.dtype);
    }
    if (tensor.is_kept) to_.keep(there);
    return there;
  }

  // The outputs of `op`, which are made from `first` on.
  void made(const Op& op, TensorId first) {
    for (const TensorId output : op.outputs) {
      place(output) = first;
      const TensorKind kind = from_.tensor(output).kind;
      if (kind == TensorKind::kOutput) to_.mark_output(first);
      if (kind == TensorKind::kState) to_.mark_state(first);
      ++first;
    }
  }

  void copy(const Op& op) {
    std::vector<TensorId> inputs;
    for (const TensorId input : op.inputs) inputs.push_back(known(input));
    made(op, to_.add_op(op.name, op.kind, std::move(inputs), op.attributes, op.layer));
  }

  // Exchanges that stand side by side, of a token and of what was chosen for it, send one message.
  // Returns how many there are.
  std::size_t exchanges_from(std::size_t first) {
    const std::vector<Op>& ops = from_.ops();
    std::vector<TensorId> inputs;
    std::size_t end = first;
    for (; end < ops.size() && ops[end].kind == "ExpertExchange"; ++end) {
      if (ops[end].attributes != ops[first].attributes) break;
      for (const TensorId input : ops[end].inputs) inputs.push_back(known(input));
    }
    TensorId sent = to_.add_op(ops[first].name, ops[first].kind, std::move(inputs),
                               ops[first].attributes, layer_);
    for (std::size_t i = first; i < end; ++i) {
      made(ops[i], sent);
      sent += static_cast<TensorId>(ops[i].outputs.size());
    }
    return end - first;
  }

  TensorId add(const std::string& name, std::string_view kind, std::vector<TensorId> inputs,
               Attributes attributes = {}) {
    return to_.add_op(name, kind, std::move(inputs), std::move(attributes), layer_);
  }

  TensorId reshaped(const std::string& name, TensorId x, const Shape& shape) {
    return add(name, "Reshape", {x}, {{"shape", shape}});
  }

  // The rows of the keys that an indexer chose for one token.
  TensorId chosen_rows(const Op& op, const std::string& name, TensorId keys) {
    const Shape shape = to_.tensor(keys).shape;
    const std::int64_t selected = integer_of(op, "selected", 0);
    const bool one = from_.tensor(op.inputs[0]).shape[2] == 1;
    if (!one || selected == 0 || selected >= shape[2]) return keys;
    return add(op.name + name, "Slice", {keys},
               {{"axis", std::int64_t{2}}, {"begin", std::int64_t{0}}, {"end", selected}});
  }

  void attention(const Op& op) {
    TensorId q = known(op.inputs[0]);
    TensorId k = chosen_rows(op, ".key.chosen", known(op.inputs[1]));
    TensorId v = chosen_rows(op, ".value.chosen", known(op.inputs[2]));
    const Shape queries = to_.tensor(q).shape;
    const Shape keys = to_.tensor(k).shape;
    const std::int64_t values = to_.tensor(v).shape[3];
    const bool grouping = keys[1] != queries[1];
    if (grouping) {
      const std::int64_t group = queries[1] / keys[1];
      q = reshaped(op.name + ".query.group", q,
                   {queries[0], keys[1], group, queries[2], queries[3]});
      k = reshaped(op.name + ".key.group", k, {keys[0], keys[1], 1, keys[2], keys[3]});
      v = reshaped(op.name + ".value.group", v, {keys[0], keys[1], 1, keys[2], values});
    }
    TensorId scores =
        add(op.name + ".scores", "MatMul", {q, k}, {{"transpose_b", std::int64_t{1}}});
    const double scale = 1.0 / std::sqrt(static_cast<double>(queries[3]));
    scores = add(op.name + ".scale", "Mul", {scores}, {{"scalar", scale}});
    const bool causal = integer_of(op, "causal", 0) != 0 && keys[2] >= queries[2];
    if (causal)
      scores = add(op.name + ".mask", "CausalMask", {scores}, {{"offset", keys[2] - queries[2]}});
    const TensorId weights =
        add(op.name + ".softmax", "Softmax", {scores}, {{"axis", std::int64_t{-1}}});
    TensorId context = add(op.name + ".context", "MatMul", {weights, v});
    if (grouping) {
      context = reshaped(op.name + ".context.ungroup", context,
                         {queries[0], queries[1], queries[2], values});
    }
    context =
        add(op.name + ".context.transpose", "Transpose", {context}, {{"perm", Shape{0, 2, 1, 3}}});
    made(op, reshaped(op.name + ".context.merge_heads", context,
                      {queries[0], queries[2], queries[1] * values}));
  }

  void route(const Op& op) {
    TensorId scores = known(op.inputs[0]);
    const bool softmax = text_of(op, "function") == "softmax";
    scores = softmax ? add(op.name + ".softmax", "Softmax", {scores}, {{"axis", std::int64_t{-1}}})
                     : add(op.name + ".sigmoid", "Sigmoid", {scores});
    if (op.inputs.size() > 1) scores = add(op.name + ".bias", "Add", {scores, known(op.inputs[1])});
    const TensorId best = add(op.name + ".top", "TopK", {scores}, {{"k", integer_of(op, "k", 0)}});
    const TensorId sum = add(op.name + ".sum", "ReduceSum", {best},
                             {{"axis", std::int64_t{-1}}, {"keep_dims", std::int64_t{1}}});
    place(op.outputs[0]) = add(op.name + ".normalise", "Div", {best, sum});
    place(op.outputs[1]) = best + 1;
  }

  TensorId activated(const std::string& name, TensorId x, const std::string& function) {
    if (function.rfind("relu", 0) == 0 || function == "sqrelu") return add(name, "Relu", {x});
    if (function.find("gelu") != std::string::npos)
      return add(name, "Gelu", {x}, {{"approximate", std::string("tanh")}});
    return add(name, "Silu", {x});
  }

  // How the tokens spread over the experts of a rank.
  Attributes spread_of(const Op& op) const {
    const Shape& choice = from_.tensor(op.inputs[2]).shape;
    RoutedTokens routed;
    routed.tokens = element_count(choice) / choice.back();
    routed.top_k = choice.back();
    routed.held = from_.tensor(op.inputs[3]).shape[0];
    routed.experts = integer_of(op, "experts", 0);
    routed.redundant = integer_of(op, "redundant", 0);
    const ExpertRouting routing = parse_routing(text_of(op, "routing", ""));
    Attributes spread{{"rows", rows_per_expert(routing, routed, law_)}};
    if (routed.held < routed.experts + routed.redundant) spread["apart"] = std::int64_t{1};
    return spread;
  }

  void experts(const Op& op) {
    const TensorId x = known(op.inputs[0]);
    const TensorId choice = known(op.inputs[2]);
    const Tensor& first = from_.tensor(op.inputs[3]);
    const bool gated = integer_of(op, "gated", 0) != 0;
    const std::string function = text_of(op, "activation");
    Shape rows_shape = to_.tensor(x).shape;
    rows_shape.insert(rows_shape.end() - 1, 1);
    const TensorId rows = reshaped(op.name + ".rows", x, rows_shape);
    Shape half = first.shape;
    if (gated) half[2] /= 2;
    const Attributes spread = spread_of(op);
    const auto part = [&](const char* name) {
      const TensorId weight = to_.add_weight(first.name + "." + name, half, first.dtype);
      if (first.is_kept) to_.keep(weight);
      return add(op.name + "." + name, "ExpertMatMul", {rows, weight, choice}, spread);
    };
    TensorId wide = activated(op.name + ".activation", part("gate"), function);
    if (gated) wide = add(op.name + ".gated", "Mul", {wide, part("up")});
    const TensorId results =
        add(op.name + ".output", "ExpertMatMul", {wide, known(op.inputs[4]), choice}, spread);
    if (spread.count("apart") > 0)
      return made(op, add(op.name + ".combined", "ExpertSum", {results, known(op.inputs[1])}));
    Shape column = to_.tensor(choice).shape;
    column.push_back(1);
    const TensorId factors = reshaped(op.name + ".column", known(op.inputs[1]), column);
    const TensorId weighted = add(op.name + ".weighted", "Mul", {results, factors});
    const auto axis = static_cast<std::int64_t>(column.size()) - 2;
    made(op, add(op.name + ".combined", "ReduceSum", {weighted}, {{"axis", axis}}));
  }

  // Machines sort rows by expert: results that go on row by row, and rows that come so, are moved
  // to and from the order of the tokens. One row for all experts is copied anyway.
  void expert_product(const Op& op) {
    const TensorId choice = known(op.inputs[2]);
    TensorId rows = known(op.inputs[0]);
    const Shape shape = to_.tensor(rows).shape;
    if (shape[shape.size() - 2] > 1) {
      rows = add(op.name + ".sorted", "Move", {rows, choice},
                 {{"function", std::string("Gather")}, {"shape", shape}});
    }
    made(op, add(op.name, op.kind, {rows, known(op.inputs[1]), choice}, op.attributes));
  }

  void reshape(const Op& op) {
    const OpId producer = from_.tensor(op.inputs.front()).producer;
    if (producer == kNoId || from_.op(producer).kind != "ExpertMatMul") return copy(op);
    made(op, add(op.name, "Move", {known(op.inputs.front()), known(from_.op(producer).inputs[2])},
                 {{"function", std::string("Scatter")},
                  {"shape", from_.tensor(op.outputs.front()).shape}}));
  }

  const Graph& from_;
  PowerLaw law_;
  Graph to_;
  std::vector<TensorId> place_;
  std::int32_t layer_ = kNoId;
};

}  // namespace

Graph in_general_operators(const Graph& graph, const PowerLaw& law) {
  return Rewriter(graph, law).run();
}

}  // namespace foretell
