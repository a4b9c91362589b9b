#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "hw/spec/shared/catalog.hpp"
#include "hw/spec/shared/kernel_files.hpp"
#include "model/base/errors.hpp"
#include "model/base/kept_inputs.hpp"
#include "model/mapping/neuron/image.hpp"
#include "model/mapping/neuron/kernel.hpp"
#include "model/mapping/neuron/neuron_fusion.hpp"
#include "model/mapping/shared/epilogue.hpp"
#include "model/mapping/shared/fusion_walk.hpp"
#include "model/mapping/shared/graph_patterns.hpp"
#include "workloads/ir/attributes.hpp"

namespace foretell {
namespace {

struct NeuronFusion {
  // In the order of KernelKind.
  FusionTable table{neuron_fusion_file(hw_folder()),
                    {"linear", "attention", "norm", "elementwise", "row_wise", "experts", "combine",
                     "gather", "rope", "update_cache", "collective", "convolution", "image", "scan",
                     "short_conv", "compress", "indexer", "general"}};
};

class Fuser : private FusionWalk {
 public:
  explicit Fuser(const Graph& graph) : FusionWalk(graph, neuron_fusion()), graph_(graph) {}

  std::vector<Kernel> run() {
    walk();
    return std::move(kernels_);
  }

 private:
  bool holds(FusionCondition condition, OpId id) const override {
    if (condition == FusionCondition::kImage) return touches_image(graph_, graph_.op(id));
    return FusionWalk::holds(condition, id);
  }

  void visit(OpId id, const FusionRule& rule) override {
    const Op& op = graph_.op(id);
    Kernel kernel;
    kernel.kind = static_cast<KernelKind>(rule.kernel);
    if (kernel.kind == KernelKind::kConvolution) return add_convolution(id);
    if (kernel.kind == KernelKind::kImage) return add_image(id);
    if (kernel.kind == KernelKind::kLinear) return add_linear(id);
    if (kernel.kind == KernelKind::kExperts) check_rows(op);
    if (kernel.kind == KernelKind::kNorm)
      kernel.per_head = graph_.tensor(op.outputs.front()).shape.size() == 4;
    take(kernel.ops, id);
    kernel.output = op.outputs.front();
    for (const TensorId input : op.inputs) {
      const TensorKind kind = graph_.tensor(input).kind;
      if (kind == TensorKind::kWeight || kind == TensorKind::kState) continue;
      kernel.operands.push_back(resolve_view(graph_, input));
    }
    if (kernel.operands.empty() && kernel.kind != KernelKind::kGather)  // works on weights alone
      kernel.operands.push_back(resolve_view(graph_, op.inputs.front()));
    ride_along(&kernel, id, rule.takes);
    kernels_.push_back(std::move(kernel));
  }

  // Results of experts lie in the order of the experts, and only a sum over them brings them back.
  void check_rows(const Op& op) const {
    const OpId next = single_consumer(graph_, op.outputs.front());
    if (next == kNoId || graph_.op(next).kind != "Reshape") return;
    throw UserError("operator '" + op.name + "' (" + op.kind + ") whose rows go on one by one " +
                    table().unmapped());
  }

  void add_image(OpId id) {
    Kernel kernel;
    kernel.kind = KernelKind::kImage;
    take(kernel.ops, id);
    kernel.output = graph_.op(id).outputs.front();
    for (const TensorId input : graph_.op(id).inputs) {
      if (!is_weight(graph_, input)) kernel.operands.push_back({input, 0, 0});
    }
    kernels_.push_back(std::move(kernel));
  }

  // A convolution takes its batch norm, a residual that another operator left and an activation.
  void add_convolution(OpId id) {
    Kernel kernel;
    kernel.kind = KernelKind::kConvolution;
    kernel.matmul = id;
    kernel.input = {graph_.op(id).inputs[0], 0, 0};
    take(kernel.ops, id);
    kernel.output = graph_.op(id).outputs.front();
    take_epilogue(kernel, table().epilogue("convolutions"), [this, id](TensorId other) {
      const OpId producer = graph_.tensor(other).producer;
      return producer != kNoId && producer < id;
    });
    kernels_.push_back(std::move(kernel));
  }

  void take_epilogue(Kernel& kernel, const EpilogueRules& rules,
                     const std::function<bool(TensorId)>& is_there) {
    for (const EpilogueOp& part : epilogue_of(
             graph_, kernel.output, rules, [this](OpId op) { return is_taken(op); }, is_there)) {
      switch (part.part) {
        case EpiloguePart::kNorm:
          kernel.bias_op = part.op;
          break;
        case EpiloguePart::kBias:
          kernel.bias = part.other;
          kernel.bias_op = part.op;
          break;
        case EpiloguePart::kActivation:
          kernel.activation_op = part.op;
          break;
        case EpiloguePart::kResidual:
          kernel.residual = {part.other, 0, 0};
          kernel.residual_op = part.op;
          break;
      }
      take(kernel.ops, part.op);
      kernel.output = graph_.op(part.op).outputs.front();
    }
  }

  // What the operator fuses, and what its neighbours mean for it.
  void ride_along(Kernel* kernel, OpId id, FusionTakes takes) {
    const Op& op = graph_.op(id);
    const OpId next = single_consumer(graph_, kernel->output);
    if (kernel->kind == KernelKind::kRowWise)
      row_wise_.insert(op.outputs.begin(), op.outputs.end());
    if (takes == FusionTakes::kActivation) {
      if (next == kNoId || !is_activation(graph_.op(next).kind)) return;
      kernel->activation_op = next;
    } else if (takes == FusionTakes::kSumOfRows) {
      kernel->row_wise =
          std::any_of(kernel->operands.begin(), kernel->operands.end(),
                      [this](const View& view) { return row_wise_.count(view.tensor) != 0; });
      const bool sums = kernel->row_wise && scales_rows(op) && next != kNoId &&
                        graph_.op(next).kind == "ReduceSum" && axis_from_last(graph_.op(next)) == 1;
      if (!sums) {
        if (kernel->row_wise) row_wise_.insert(kernel->output);
        return;
      }
      kernel->kind = KernelKind::kCombine;
    } else {
      return;
    }
    take(kernel->ops, next);
    kernel->output = graph_.op(next).outputs.front();
  }

  // A product of rows with one number each.
  bool scales_rows(const Op& op) const {
    return op.kind == "Mul" && op.inputs.size() == 2 &&
           column_count(graph_.tensor(op.inputs.back()).shape) == 1;
  }

  // MatMul by a weight, then what can ride on the eviction of its result.
  void add_linear(OpId id) {
    const Op& matmul = graph_.op(id);
    Kernel kernel;
    kernel.kind = KernelKind::kLinear;
    kernel.matmul = id;
    kernel.input = resolve_view(graph_, matmul.inputs[0]);
    kernel.weight = matmul.inputs[1];
    take(kernel.ops, id);
    kernel.output = matmul.outputs.front();
    // A residual must exist already: its producer comes before the matmul.
    take_epilogue(kernel, table().epilogue("products"),
                  [this, id](TensorId other) { return graph_.tensor(other).producer <= id; });
    if (kernel.residual_op != kNoId) kernel.residual = resolve_view(graph_, kernel.residual.tensor);
    kernels_.push_back(std::move(kernel));
  }

  // Among what works on scores, differences have no place in the kernel.
  void take_attention(OpId softmax) override {
    const std::optional<AttentionPattern> found = match_attention(graph_, softmax);
    if (!found) return;
    Kernel kernel;
    kernel.kind = KernelKind::kAttention;
    for (const OpId id : found->between) {
      const std::string_view kind = graph_.op(id).kind;
      if (kind == "Sub") return;
      if (kind == "Mul" || kind == "Div") {
        kernel.scale_op = id;
      } else {
        kernel.mask_ops.insert(kernel.mask_ops.begin(), id);
      }
    }
    kernel.scores_op = found->scores;
    kernel.softmax_op = softmax;
    kernel.context_op = found->context;
    const Op& scores = graph_.op(found->scores);
    const Op& context = graph_.op(found->context);
    kernel.query = resolve_view(graph_, scores.inputs[0]);
    kernel.key = resolve_view(graph_, scores.inputs[1]);
    kernel.value = resolve_view(graph_, context.inputs[1]);
    kernel.output = context.outputs.front();
    kernel.batch = found->batch;
    kernel.heads = found->heads;
    kernel.queries = found->queries;
    kernel.head_dim = found->head_dim;
    kernel.kv_heads = found->kv_heads;
    kernel.keys = found->keys;
    const Tensor& keys = graph_.tensor(kernel.key.tensor);
    kernel.cached = keys.producer == kNoId ? keys.kind == TensorKind::kState
                                           : graph_.op(keys.producer).kind == "UpdateCache";
    fill_mask(&kernel);
    read_fresh_rows(&kernel);
    for (const OpId id : found->ops()) take(kernel.ops, id);
    attentions_.push_back(std::move(kernel));
  }

  // A prompt from the start finds in the cache what it has just written there, and has on the core.
  void read_fresh_rows(Kernel* kernel) const {
    const bool from_start = kernel->is_causal && kernel->causal_offset == 0 &&
                            kernel->queries == kernel->keys && kernel->queries > 1;
    if (!kernel->cached || !from_start) return;
    kernel->cached = false;
    for (View* view : {&kernel->key, &kernel->value}) {
      const OpId update = graph_.tensor(view->tensor).producer;
      if (update == kNoId || graph_.op(update).kind != "UpdateCache") continue;
      const View fresh = resolve_view(graph_, graph_.op(update).inputs.back());
      *view = {fresh.tensor, fresh.first_column + view->first_column, view->columns};
    }
  }

  void fill_mask(Kernel* kernel) const {
    if (kernel->mask_ops.size() != 1) return;
    const Op& mask = graph_.op(kernel->mask_ops.front());
    if (mask.kind != "CausalMask") return;
    kernel->is_causal = true;
    kernel->causal_offset = integer_of(mask, "offset");
    kernel->window = integer_of(mask, "window", kernel->window);
    // The cache of a layer with a window holds no more than that.
    if (kernel->cached && kernel->window > 0) {
      kernel->keys = std::min(kernel->keys, kernel->window + kernel->queries - 1);
    }
  }

  // An attention runs where its context matmul stands.
  void finish_attention(OpId id) override {
    for (Kernel& kernel : attentions_) {
      if (kernel.context_op == id) kernels_.push_back(kernel);
    }
  }

  const Graph& graph_;
  std::vector<Kernel> attentions_;
  std::vector<Kernel> kernels_;
  std::set<TensorId> row_wise_;  // tensors that have tokens on the partitions and few columns
};

}  // namespace

const FusionTable& neuron_fusion() { return kept<NeuronFusion>().table; }

std::int64_t column_count(const Shape& shape) { return shape.empty() ? 1 : shape.back(); }
std::int64_t row_count(const Shape& shape) {
  return element_count(shape) / std::max<std::int64_t>(1, column_count(shape));
}

namespace {

bool is_last_axis(const Graph& graph, const Op& op) {
  const std::int64_t axis = integer_of(op, "axis");
  const auto rank = static_cast<std::int64_t>(graph.tensor(op.inputs.front()).shape.size());
  return axis == -1 || axis == rank - 1;
}

}  // namespace

View resolve_view(const Graph& graph, TensorId id) {
  View view{id, 0, column_count(graph.tensor(id).shape)};
  while (true) {
    const OpId producer = graph.tensor(view.tensor).producer;
    if (producer == kNoId) return view;
    const Op& op = graph.op(producer);
    if (!neuron_fusion().is("views", op.kind) || touches_image(graph, op)) return view;
    if (op.kind == "Split") {
      for (const TensorId part : op.outputs) {
        if (part == view.tensor) break;
        view.first_column += column_count(graph.tensor(part).shape);
      }
      view.columns = column_count(graph.tensor(view.tensor).shape);
      view.tensor = op.inputs.front();
      continue;
    }
    if (op.kind == "Slice" && is_last_axis(graph, op)) {
      view.first_column += integer_of(op, "begin");
      view.columns = column_count(graph.tensor(view.tensor).shape);
    }
    view.tensor = op.inputs.front();
    if (op.kind != "Slice")
      view.columns = std::max(view.columns, column_count(graph.tensor(view.tensor).shape));
  }
}

std::vector<Kernel> fuse(const Graph& graph) { return Fuser(graph).run(); }

}  // namespace foretell
