#include "model/mapping/shared/fuse.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "hw/spec/shared/catalog.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/mapping/shared/data_of.hpp"
#include "model/mapping/shared/epilogue.hpp"
#include "model/mapping/shared/fusion_walk.hpp"
#include "model/mapping/shared/graph_patterns.hpp"
#include "workloads/ir/attributes.hpp"
#include "workloads/ir/operators/networks.hpp"

namespace foretell {
namespace {

struct LibraryFusion {
  // In the order of FusedKind.
  FusionTable table{hw_folder() / "kernels" / "layers" / "fusion.yaml",
                    {"linear", "product", "convolution", "attention", "experts", "pass",
                     "collective", "expert_layer", "scan", "indexer"}};
};

class Fuser : private FusionWalk {
 public:
  Fuser(const Graph& graph, const FusionRules& rules)
      : FusionWalk(graph, kept<LibraryFusion>().table),
        graph_(graph),
        rules_(rules),
        done_(graph.ops().size(), false) {}

  std::vector<FusedOp> run() {
    walk();
    return std::move(fused_);
  }

 private:
  bool is_done(OpId id) const { return done_[static_cast<std::size_t>(id)]; }

  std::string_view lane(OpId id) const { return branch_of(rules_.beside, graph_.op(id).name); }
  bool may_join(OpId id, OpId others) const { return !is_taken(id) && lane(id) == lane(others); }

  bool fuses_attention(OpId softmax) const {
    const Shape& scores = graph_.tensor(graph_.op(softmax).outputs.front()).shape;
    return rules_.attention &&
           (rules_.attention_keys == 0 || scores.back() <= rules_.attention_keys);
  }

  OpId single_consumer(TensorId id) const { return foretell::single_consumer(graph_, id); }
  bool is_weight(TensorId id) const { return foretell::is_weight(graph_, id); }

  bool holds(FusionCondition condition, OpId id) const override {
    switch (condition) {
      case FusionCondition::kGrouped:
        return rules_.groups;
      case FusionCondition::kReadInPieces:
        return is_read_in_pieces(graph_.op(id).outputs.front());
      case FusionCondition::kStrided:
        return !remains(id);
      default:
        return FusionWalk::holds(condition, id);
    }
  }

  bool is_view(OpId id) const {
    const FusionRule* rule = rule_of(id);
    return rule != nullptr && rule->is_view;
  }

  // Elements that keep their rows' places in a product or pass and change them in memory.
  bool is_reordering(const Op& op) const {
    return op.kind == "Transpose" || (rules_.groups && is_roll(op));
  }

  // The parts of this need not lie next to each other.
  bool is_read_in_pieces(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    if (tensor.kind == TensorKind::kOutput || tensor.consumers.empty()) return false;
    return std::all_of(tensor.consumers.begin(), tensor.consumers.end(), [this](OpId reader) {
      const Op& op = graph_.op(reader);
      if (table().is("views", op.kind)) return is_read_in_pieces(op.outputs.front());
      return table().is("in_pieces", op.kind);
    });
  }

  // A transposition is free where a kernel writes or reads with strides.
  bool remains(OpId id) const {
    const Op& op = graph_.op(id);
    if (writes_with_strides(op.inputs.front())) return false;
    return !read_with_strides(op.outputs.front());
  }

  bool writes_with_strides(TensorId id) const {
    for (OpId up = graph_.tensor(id).producer; up != kNoId;) {
      const Op& op = graph_.op(up);
      if (has_strides(up) || (is_elementwise(op.kind) && ends_in_a_pass(up))) return true;
      if (!table().is("views", op.kind) && !is_reordering(op)) return false;
      up = graph_.tensor(op.inputs.front()).producer;
    }
    return graph_.tensor(id).kind == TensorKind::kWeight;
  }

  bool read_with_strides(TensorId id) const {
    const Tensor& tensor = graph_.tensor(id);
    if (tensor.kind == TensorKind::kOutput || tensor.consumers.empty()) return false;
    return std::all_of(tensor.consumers.begin(), tensor.consumers.end(), [this](OpId reader) {
      const Op& op = graph_.op(reader);
      if (table().is("views", op.kind) || is_reordering(op))
        return read_with_strides(op.outputs.front());
      return has_strides(reader) || is_elementwise(op.kind);
    });
  }

  // Libraries of products alone want matrices whose rows follow one another; attentions do not.
  bool has_strides(OpId id) const {
    const Op& op = graph_.op(id);
    if (op.kind == "MatMul" && !rules_.strides) return in_attention_.count(id) > 0;
    return table().is("strided", op.kind);
  }

  // No part of the product before it.
  bool ends_in_a_pass(OpId id) const { return rules_.strides || !rules_.epilogues || !is_bias(id); }

  bool is_available(TensorId id) const {
    const OpId producer = graph_.tensor(data_of(graph_, id)).producer;
    return producer == kNoId || is_done(producer);
  }

  void visit(OpId id, const FusionRule& rule) override {
    const Op& op = graph_.op(id);
    FusedOp fused;
    fused.kind = static_cast<FusedKind>(rule.kernel);
    if (fused.kind == FusedKind::kLinear) return add_linear(id);
    fused.main = id;
    take(fused.ops, id);
    for (const std::size_t place : rule.weights) fused.weights.push_back(op.inputs.at(place));
    if (fused.kind == FusedKind::kAttention) fill_from_operator(op, fused.attention);
    if (rules_.groups) take_along(rule.takes, fused);
    const OpId last = fused.ops.back();
    emit(std::move(fused));
    pass_again(graph_.op(last));
  }

  void take_along(FusionTakes takes, FusedOp& fused) {
    switch (takes) {
      case FusionTakes::kScale:
        return absorb_scale(fused);
      case FusionTakes::kActivation:
        return absorb_activation(fused);
      case FusionTakes::kEpilogue:
        return absorb_epilogue(fused, table().epilogue("convolutions"));
      case FusionTakes::kReaders:
        return extend(fused);
      case FusionTakes::kHeads:
        return join_head_work(fused);
      default:
        return;
    }
  }

  // The passes of an operator after its first, each over its result.
  void pass_again(const Op& op) {
    auto passes = rules_.passes.find(op.kind);
    if (passes == rules_.passes.end() && has_attribute(op, "function"))
      passes = rules_.passes.find(op.kind + "." + text_of(op, "function"));
    if (passes == rules_.passes.end() || fused_.back().kind != FusedKind::kPass) return;
    FusedOp again = fused_.back();
    again.reads = again.writes;
    again.is_again = true;
    for (int pass = 1; pass < passes->second; ++pass) fused_.push_back(again);
  }

  // What it hides is a window of as many pairs of queries and keys.
  void fill_from_operator(const Op& op, AttentionDimensions& dimensions) const {
    const Shape& q = graph_.tensor(op.inputs[0]).shape;
    const Shape& k = graph_.tensor(op.inputs[1]).shape;
    const auto value = [&op](const char* name) { return integer_of(op, name, 0); };
    dimensions.batch = q[0];
    dimensions.heads = q[1];
    dimensions.queries = q[2];
    dimensions.head_dim = q[3];
    dimensions.kv_heads = k[1];
    dimensions.keys = k[2];
    dimensions.value_dim = graph_.tensor(op.inputs[2]).shape[3];
    dimensions.causal = value("causal") != 0;
    dimensions.key = op.inputs[1];
    const std::int64_t ratio = value("ratio");
    const std::int64_t selected = value("selected");
    dimensions.selected = selected;
    if (ratio > 0) {  // its own tokens, and entries that stand for several
      const std::int64_t far = q[2] / ratio / 2;
      dimensions.keys = q[2];
      dimensions.window = value("window") + (selected > 0 ? std::min(far, selected) : far);
      return;
    }
    dimensions.window = value("window");
    if (value("stride") > 0) {
      dimensions.window = q[2] == 1
                              ? keys_of_pattern(graph_, op)
                              : window_of_as_many({q[2], k[2], dimensions.causal, dimensions.window,
                                                   0, 0, 0, value("stride")});
    }
    dimensions.in_chunks = value("chunk") > 0;
    if (value("chunk") > 0 && value("chunk") < dimensions.keys)
      dimensions.window = value("chunk") / (dimensions.queries > 1 ? 2 : 1);
    if (selected > 0 && (dimensions.window == 0 || selected < dimensions.window))
      dimensions.window = selected;
    const bool chosen_latents = selected > 0 && value("latent") > 0;
    if (dimensions.queries == 1 && dimensions.window > 0 && !chosen_latents)
      dimensions.keys = std::min(dimensions.keys, dimensions.window);
    if (dimensions.window >= dimensions.keys) dimensions.window = 0;
  }

  void absorb_scale(FusedOp& fused) {
    const OpId next = single_consumer(output_of(fused));
    if (next == kNoId || !may_join(next, fused.main)) return;
    const Op& op = graph_.op(next);
    if ((op.kind == "Mul" || op.kind == "Div") && op.inputs.size() == 1) take(fused.ops, next);
  }

  void absorb_activation(FusedOp& fused) {
    const OpId next = single_consumer(output_of(fused));
    if (next != kNoId && is_activation(graph_.op(next).kind) && may_join(next, fused.main))
      take(fused.ops, next);
  }

  TensorId output_of(const FusedOp& fused) const {
    return graph_.op(fused.ops.back()).outputs.front();
  }

  bool is_head_work(OpId id) const {
    const FusionRule* rule = rule_of(id);
    return rule != nullptr && rule->takes == FusionTakes::kHeads;
  }

  // The operators of the kernel before it come first, where they are such work, too.
  void join_head_work(FusedOp& fused) {
    if (fused_.empty()) return;
    const std::vector<OpId>& before = fused_.back().ops;
    const bool joins = std::all_of(before.begin(), before.end(), [&](OpId op) {
      return is_head_work(op) && lane(op) == lane(fused.main);
    });
    if (!joins) return;
    FusedOp whole = std::move(fused_.back());
    fused_.pop_back();
    whole.ops.push_back(fused.main);
    fused = std::move(whole);
  }

  // Element-wise readers that can follow in the same pass, and what works row by row at the end.
  void extend(FusedOp& pass) {
    for (OpId next = following(output_of(pass)); next != kNoId; next = following(output_of(pass))) {
      take(pass.ops, next);
      if (!is_elementwise(graph_.op(next).kind)) return;
    }
  }

  OpId following(TensorId result) const {
    for (const OpId reader : graph_.tensor(result).consumers) {
      const Op& op = graph_.op(reader);
      if (!may_join(reader, graph_.tensor(result).producer) ||
          (!is_elementwise(op.kind) && !table().is("row_wise", op.kind)))
        continue;
      const bool ready = std::all_of(op.inputs.begin(), op.inputs.end(), [&](TensorId input) {
        return input == result || is_available(input);
      });
      if (ready) return reader;
    }
    return kNoId;
  }

  void add_linear(OpId id) {
    const std::vector<OpId> siblings = siblings_of(id);
    std::vector<OpId> biases;
    FusedOp fused;
    fused.kind = FusedKind::kLinear;
    fused.main = id;
    for (const OpId sibling : siblings) {
      const Op& op = graph_.op(sibling);
      fused.weights.push_back(op.inputs[1]);
      take(fused.ops, sibling);
      const OpId next = single_consumer(op.outputs.front());
      if (siblings.size() == 1 || next == kNoId || !is_bias(next)) continue;
      if (rules_.epilogues) {
        take(fused.ops, next);
      } else {
        biases.push_back(next);
      }
    }
    if (siblings.size() == 1 && rules_.epilogues)
      absorb_epilogue(fused, table().epilogue(rules_.groups ? "products" : "products_alone"));
    emit(std::move(fused));
    if (!biases.empty()) emit_together(biases);
  }

  // The biases of products that are one, in one pass.
  void emit_together(const std::vector<OpId>& biases) {
    FusedOp pass;
    pass.main = biases.front();
    for (const OpId bias : biases) take(pass.ops, bias);
    emit(std::move(pass));
  }

  // Products of the same input that run as one: those that no activation alone follows.
  std::vector<OpId> siblings_of(OpId id) const {
    const Op& first = graph_.op(id);
    std::vector<OpId> siblings = {id};
    if (!rules_.groups || !can_be_merged(id)) return siblings;
    for (const OpId reader : graph_.tensor(first.inputs[0]).consumers) {
      const Op& op = graph_.op(reader);
      if (reader <= id || !may_join(reader, id) || op.kind != "MatMul" ||
          op.inputs[0] != first.inputs[0])
        continue;
      if (is_weight(op.inputs[1]) && op.layer == first.layer &&
          have_one_type(op.inputs[1], first.inputs[1]) && can_be_merged(reader))
        siblings.push_back(reader);
    }
    return siblings;
  }

  // Weights of one product are of one type: a router beside quantised products is one of its own.
  bool have_one_type(TensorId a, TensorId b) const {
    return graph_.tensor(a).dtype == graph_.tensor(b).dtype;
  }

  // An activation rides in the epilogue of its product, unless a gate multiplies with another.
  bool can_be_merged(OpId id) const {
    OpId next = single_consumer(graph_.op(id).outputs.front());
    if (next != kNoId && is_bias(next)) next = single_consumer(graph_.op(next).outputs.front());
    if (next == kNoId || !is_activation(graph_.op(next).kind)) return true;
    next = single_consumer(graph_.op(next).outputs.front());
    return next != kNoId && graph_.op(next).kind == "Mul" && graph_.op(next).inputs.size() == 2;
  }

  bool is_bias(OpId id) const {
    const Op& op = graph_.op(id);
    if (op.kind != "Add" || op.inputs.size() != 2 || !is_weight(op.inputs[1])) return false;
    return element_count(graph_.tensor(op.inputs[1]).shape) ==
           graph_.tensor(op.outputs.front()).shape.back();
  }

  // A function that the library's products do not have in their epilogues.
  bool is_apart(OpId id) const {
    const std::string& kind = graph_.op(id).kind;
    return !rules_.activations.empty() && is_activation(kind) &&
           rules_.activations.count(kind) == 0;
  }

  void absorb_epilogue(FusedOp& fused, const EpilogueRules& rules) {
    for (const EpilogueOp& part : epilogue_of(
             graph_, output_of(fused), rules,
             [this, &fused](OpId op) { return !may_join(op, fused.main) || is_apart(op); },
             [this](TensorId other) { return is_available(other); }))
      take(fused.ops, part.op);
  }

  // The products are of two activations.
  void take_attention(OpId softmax) override {
    if (!fuses_attention(softmax)) return;
    const std::optional<AttentionPattern> found = match_attention(graph_, softmax);
    if (!found || is_weight(graph_.op(found->scores).inputs[1])) return;
    FusedOp fused;
    fused.kind = FusedKind::kAttention;
    AttentionDimensions& attention = fused.attention;
    for (const OpId id : found->between) {
      const Op& op = graph_.op(id);
      if (op.kind != "CausalMask") continue;
      attention.causal = true;
      if (has_attribute(op, "window")) attention.window = integer_of(op, "window") - 1;
    }
    attention.batch = found->batch;
    attention.heads = found->heads;
    attention.queries = found->queries;
    attention.head_dim = found->head_dim;
    attention.kv_heads = found->kv_heads;
    attention.keys = found->keys;
    attention.key = graph_.op(found->scores).inputs[1];
    fused.main = found->scores;
    for (const OpId id : found->ops()) take(fused.ops, id);
    in_attention_.insert(fused.ops.begin(), fused.ops.end());
    attentions_[found->context] = std::move(fused);
  }

  void finish_attention(OpId context) override {
    const auto attention = attentions_.find(context);
    if (attention != attentions_.end()) emit(std::move(attention->second));
  }

  void emit(FusedOp fused) {
    for (const OpId id : fused.ops) done_[static_cast<std::size_t>(id)] = true;
    const std::vector<OpId>& inside = fused.ops;
    std::map<TensorId, Bytes> reads;
    fused.writes.clear();
    for (const OpId id : fused.ops) {
      const Op& op = graph_.op(id);
      for (std::size_t i = 0; i < op.inputs.size(); ++i) note_read(op, i, inside, reads);
      for (const TensorId output : op.outputs) {
        if (op.kind == "UpdateCache") {
          const Bytes rows = graph_.tensor(op.inputs[1]).bytes();
          fused.writes.push_back({data_of(graph_, output), rows});
        } else if (leaves(output, inside)) {
          fused.writes.push_back({output, graph_.tensor(output).bytes()});
        }
      }
    }
    for (const OpId id : fused.ops) {
      const Op& op = graph_.op(id);
      if (!table().is("in_place", op.kind)) continue;
      for (const TensorId input : op.inputs) {
        if (graph_.tensor(input).kind == TensorKind::kState)
          fused.writes.push_back({input, graph_.tensor(input).bytes()});
      }
    }
    fused.reads.clear();
    for (const auto& [tensor, bytes] : reads) {
      fused.reads.push_back({tensor, std::min(bytes, graph_.tensor(tensor).bytes())});
    }
    fused_.push_back(std::move(fused));
  }

  static bool holds_one(const std::vector<OpId>& ops, OpId id) {
    return std::find(ops.begin(), ops.end(), id) != ops.end();
  }

  void note_read(const Op& op, std::size_t index, const std::vector<OpId>& inside,
                 std::map<TensorId, Bytes>& reads) const {
    if (op.kind == "UpdateCache" && index == 0) return;  // written in place
    const TensorId input = op.inputs[index];
    const TensorId data = data_of(graph_, input);
    const OpId producer = graph_.tensor(data).producer;
    if (producer != kNoId && holds_one(inside, producer)) return;
    const bool by_index = op.kind == "Gather" && index == 0;
    double elements = static_cast<double>(
        element_count(graph_.tensor(by_index ? op.outputs.front() : input).shape));
    if (op.kind == "Attention" && (index == 1 || index == 2)) {
      if (index == 2 && has_attribute(op, "latent")) return;  // columns of the keys
      elements *= share_of_keys_read(graph_, op);
    }
    reads[data] += elements * size_of(graph_.tensor(data).dtype);
  }

  // Does an operator outside read it, or does it leave the graph?
  bool leaves(TensorId id, const std::vector<OpId>& inside) const {
    const Tensor& tensor = graph_.tensor(id);
    if (tensor.kind == TensorKind::kOutput || tensor.kind == TensorKind::kState) return true;
    return std::any_of(tensor.consumers.begin(), tensor.consumers.end(), [&](OpId reader) {
      if (holds_one(inside, reader)) return false;
      if (!is_view(reader)) return true;
      const std::vector<TensorId>& views = graph_.op(reader).outputs;
      return std::any_of(views.begin(), views.end(),
                         [&](TensorId view) { return leaves(view, inside); });
    });
  }

  const Graph& graph_;
  const FusionRules& rules_;
  std::vector<bool> done_;              // has been emitted
  std::map<OpId, FusedOp> attentions_;  // by the operator at whose place they run
  std::set<OpId> in_attention_;         // operators of these
  std::vector<FusedOp> fused_;
};

}  // namespace

std::string_view branch_of(const std::map<std::string, std::string>& beside,
                           std::string_view name) {
  for (const auto& [part, branch] : beside) {
    if (name.find(part) != std::string_view::npos) return branch;
  }
  return "";
}

std::vector<FusedOp> fuse_kernels(const Graph& graph, const FusionRules& rules) {
  return Fuser(graph, rules).run();
}

}  // namespace foretell
