#include "model/mapping/neuron/map_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "model/base/errors.hpp"
#include "model/mapping/neuron/lowering.hpp"
#include "workloads/ir/attributes.hpp"
#include "workloads/ir/work.hpp"

namespace foretell {
namespace {

ElementType element_type(DType type) {
  switch (type) {
    case DType::kFp32:
      return ElementType::kFp32;
    case DType::kTf32:
      return ElementType::kTf32;
    case DType::kBf16:
      return ElementType::kBf16;
    case DType::kFp16:
      return ElementType::kFp16;
    case DType::kFp8:
      return ElementType::kFp8;
    case DType::kInt8:
      return ElementType::kInt8;
    case DType::kInt32:
      return ElementType::kInt32;
    case DType::kFp8Block:
    case DType::kInt4:
    case DType::kMxfp4:
    case DType::kNvfp4:
    case DType::kInt64:
    case DType::kBool:
      break;
  }
  throw UserError("NeuronCores do not compute in " + std::string(to_string(type)) +
                  "; use bf16, fp16, fp8 or fp32");
}

using Demands = std::map<TensorId, std::vector<Demand>>;

class NeuronMapper {
 public:
  NeuronMapper(const Graph& graph, const PrecisionPolicy& precision, const CoreShape& core,
               const SchedulingParameters& scheduling, const LayerStandIns& stand_ins,
               SpillPlan plan = {})
      : graph_(graph),
        stand_ins_(stand_ins),
        kernels_(fuse(graph)),
        builder_(graph.name()),
        emitter_(builder_, core, types_of(precision), scheduling),
        plan_(std::move(plan)),
        weights_(emitter_, graph, resident_weights()),
        residency_(emitter_, graph, plan_, reload_ahead()),
        context_{graph, emitter_, weights_, residency_} {}

  Program run() {
    collect_demands();
    std::map<std::int32_t, std::vector<const Kernel*>> of_layer;  // that were seen so far
    for (const Kernel& kernel : kernels_) {
      const std::int32_t in = graph_.op(kernel.ops.front()).layer;
      std::vector<const Kernel*>& seen = of_layer[in];
      seen.push_back(&kernel);
      const auto found = stand_ins_.find(in);
      if (found != stand_ins_.end()) {
        const std::vector<const Kernel*>& mapped = of_layer[found->second];
        FORETELL_CHECK(seen.size() <= mapped.size(), "a layer without an equal one before it");
        const Kernel* like = mapped[seen.size() - 1];
        emitter_.alias(like->output, kernel.output);
        residency_.skip(kernel, *like, static_cast<std::size_t>(like - kernels_.data()));
        continue;
      }
      residency_.begin(kernel);
      lower(kernel);
      residency_.end(kernel);
    }
    for (const TensorId output : graph_.outputs()) lower_output(context_, output);
    return std::move(builder_).finish();
  }

  // After run(): what of its activations does not fit.
  SpillPlan spill_plan() const {
    const bool loops =
        emitter_.scheduling().operator_loops && residency_.largest_operand() > free_bytes();
    return residency_.plan_for(emitter_.core().scheduling.activation_share * free_bytes(), loops);
  }

  Occupancy occupancy(const SpillPlan& plan) const {
    return {residency_.occupants(plan), weights_.kept_until()};
  }

 private:
  static MappingTypes types_of(const PrecisionPolicy& precision) {
    MappingTypes types;
    types.matmul = element_type(precision.matmul_compute);
    types.vector = element_type(precision.vector);
    types.operand = precision.matmul_compute;
    return types;
  }

  // As it is and transposed, as in training: the two lie differently in SBUF.
  bool is_read_both_ways(const Tensor& weight) const {
    const auto turned =
        std::count_if(weight.consumers.begin(), weight.consumers.end(),
                      [this](OpId op) { return has_attribute(graph_.op(op), "transpose_b"); });
    return turned > 0 && static_cast<std::size_t>(turned) < weight.consumers.size();
  }

  // Weights that several operators read stay in SBUF when they all fit its larger part.
  std::set<TensorId> resident_weights() {
    std::set<TensorId> shared;
    double bytes = 0;
    for (TensorId id = 0; id < static_cast<TensorId>(graph_.tensors().size()); ++id) {
      const Tensor& tensor = graph_.tensor(id);
      if (tensor.kind != TensorKind::kWeight || tensor.shape.size() != 2) continue;
      const auto matmuls =
          std::count_if(tensor.consumers.begin(), tensor.consumers.end(),
                        [this](OpId op) { return graph_.op(op).kind == "MatMul"; });
      if (matmuls < 2 || is_read_both_ways(tensor)) continue;
      shared.insert(id);
      bytes += tensor.bytes().value();
    }
    const CoreShape& core = emitter_.core();
    if (bytes > core.scheduling.resident_share * core.sbuf.capacity.value()) return {};
    resident_bytes_ = bytes;
    return shared;
  }

  // What is free of SBUF, beside the weights that stay.
  double free_bytes() const { return emitter_.core().sbuf.capacity.value() - resident_bytes_; }

  // What is left for activations that come back early.
  double reload_ahead() const {
    const double others = (1 - emitter_.core().scheduling.activation_share) * free_bytes();
    return std::max(0.0, others - emitter_.scheduling().prefetch_window.value());
  }

  void demand(const View& view, bool feature_major) {
    std::vector<Demand>& ranges = demands_[view.tensor];
    for (Demand& range : ranges) {
      if (range.first_column != view.first_column || range.columns != view.columns) continue;
      (feature_major ? range.feature_major : range.token_major) = true;
      return;
    }
    ranges.push_back({view.first_column, view.columns, !feature_major, feature_major});
  }

  // Readers first, so that an operator that works in either layout asks for the one in which its
  // own result is wanted.
  void collect_demands() {
    for (const TensorId output : graph_.outputs()) demand(resolve_view(graph_, output), false);
    for (auto kernel = kernels_.rbegin(); kernel != kernels_.rend(); ++kernel) {
      switch (kernel->kind) {
        case KernelKind::kLinear:
          demand(kernel->input, true);
          if (kernel->residual_op != kNoId) demand(kernel->residual, false);
          break;
        case KernelKind::kAttention:
          demand(kernel->query, true);
          demand(kernel->key, true);
          demand(kernel->value, false);
          break;
        case KernelKind::kElementwise:
          kernel->feature_major = !kernel->row_wise && only_feature_major(kernel->output);
          for (const View& view : kernel->operands) demand(view, kernel->feature_major);
          break;
        case KernelKind::kRope:
          demand(kernel->operands.front(), true);
          break;
        case KernelKind::kScan:
        case KernelKind::kShortConv:
        case KernelKind::kCompress:
        case KernelKind::kIndexer:
          for (const View& view : kernel->operands) demand(view, true);
          break;
        case KernelKind::kNorm:
        case KernelKind::kCollective:
          for (const View& view : kernel->operands) demand(view, kernel->per_head);
          break;
        case KernelKind::kRowWise:
        case KernelKind::kCombine:
        case KernelKind::kGeneral:
          for (const View& view : kernel->operands) demand(view, false);
          break;
        case KernelKind::kExperts:  // rows that are not sorted yet are moved one by one
          demand(kernel->operands.front(), !needs_sorting(*kernel));
          demand(kernel->operands.back(), false);
          break;
        case KernelKind::kGather:
        case KernelKind::kUpdateCache:
        case KernelKind::kConvolution:
        case KernelKind::kImage:
          break;
      }
    }
  }

  bool needs_sorting(const Kernel& kernel) const {
    return kernel.operands.front().tensor != graph_.op(kernel.ops.front()).inputs.front();
  }

  bool only_feature_major(TensorId id) const {
    const auto found = demands_.find(id);
    return found != demands_.end() && found->second.size() == 1 &&
           found->second.front().feature_major && !found->second.front().token_major;
  }

  // How the readers want the output of a linear kernel, as disjoint ranges of columns that cover
  // it. Overlapping wishes are met by one token-major result, transposed on demand.
  std::vector<Demand> demands_of(const Kernel& kernel) const {
    const std::int64_t columns = column_count(graph_.tensor(kernel.output).shape);
    const auto found = demands_.find(kernel.output);
    if (found == demands_.end()) return {{0, columns, true, false}};
    std::vector<Demand> ranges = found->second;
    std::sort(ranges.begin(), ranges.end(),
              [](const Demand& a, const Demand& b) { return a.first_column < b.first_column; });
    std::int64_t covered = 0;
    for (const Demand& range : ranges) {
      if (range.first_column != covered) return {{0, columns, true, false}};
      covered += range.columns;
    }
    if (covered != columns) return {{0, columns, true, false}};
    return ranges;
  }

  void lower(const Kernel& kernel) {
    const bool narrow = is_narrow(context_, kernel.output);
    switch (kernel.kind) {
      case KernelKind::kLinear:
        return narrow ? lower_linear_narrow(context_, kernel)
                      : lower_linear(context_, kernel, demands_of(kernel));
      case KernelKind::kAttention:
        if (kernel.cached) return lower_cached_attention(context_, kernel);
        return takes_flash_attention(context_.emitter.core(), kernel)
                   ? lower_flash_attention(context_, kernel)
                   : lower_attention(context_, kernel);
      case KernelKind::kNorm:
        if (kernel.per_head) return lower_head_norm(context_, kernel);
        return narrow ? lower_norm_narrow(context_, kernel) : lower_norm(context_, kernel);
      case KernelKind::kElementwise:
        return narrow && !kernel.row_wise ? lower_elementwise_narrow(context_, kernel)
                                          : lower_elementwise(context_, kernel);
      case KernelKind::kRowWise:
        return lower_row_wise(context_, kernel);
      case KernelKind::kExperts:
        return lower_experts(context_, kernel, !narrow && !only_feature_major(kernel.output));
      case KernelKind::kCombine:
        return lower_combine(context_, kernel);
      case KernelKind::kGather:
        return lower_gather(context_, kernel);
      case KernelKind::kRope:
        return lower_rope(context_, kernel);
      case KernelKind::kUpdateCache:
        return lower_update_cache(context_, kernel);
      case KernelKind::kCollective:
        return lower_collective(context_, kernel);
      case KernelKind::kConvolution:
        return lower_convolution(context_, kernel);
      case KernelKind::kScan:
        return lower_scan(context_, kernel);
      case KernelKind::kShortConv:
        return lower_short_conv(context_, kernel);
      case KernelKind::kCompress:
        return lower_compress(context_, kernel);
      case KernelKind::kIndexer:
        return lower_indexer(context_, kernel);
      case KernelKind::kGeneral:
        return lower_general(context_, kernel);
      case KernelKind::kImage:
        return lower_image(context_, kernel);
    }
  }

  const Graph& graph_;
  const LayerStandIns& stand_ins_;
  std::vector<Kernel> kernels_;
  ProgramBuilder builder_;
  Emitter emitter_;
  double resident_bytes_ = 0;
  SpillPlan plan_;
  WeightStream weights_;
  Residency residency_;
  LoweringContext context_;
  Demands demands_;
};

// Multiply-accumulates of one product of activations that is written out instruction by
// instruction: some ten million of them, and gigabytes of program, for an attention of 45,000
// tokens.
constexpr double kMostMacs = 5e12;

void check_attentions(const Graph& graph) {
  for (std::size_t i = 0; i < graph.ops().size(); ++i) {
    const Op& op = graph.ops()[i];
    if (op.kind != "MatMul" || graph.tensor(op.inputs[1]).kind == TensorKind::kWeight) continue;
    const double macs = macs_of(graph, static_cast<OpId>(i));
    if (macs <= kMostMacs) continue;
    throw UserError(fmt::format(
        "operator '{}': {:.3g} multiply-accumulates of one attention are more than a NeuronCore's "
        "program is written out for ({:.0e}); lower --image-size, --frames or --batch, or take "
        "GPUs",
        op.name, macs, kMostMacs));
  }
}

}  // namespace

Program map_to_neuron_core(const Graph& graph, const PrecisionPolicy& precision,
                           const CoreShape& core, const SchedulingParameters& scheduling,
                           const LayerStandIns& stand_ins, Occupancy* occupancy) {
  check_attentions(graph);
  NeuronMapper mapper(graph, precision, core, scheduling, stand_ins);
  Program program = mapper.run();
  const SpillPlan plan = mapper.spill_plan();
  if (plan.empty()) {
    if (occupancy != nullptr) *occupancy = mapper.occupancy(plan);
    return program;
  }
  NeuronMapper spilling(graph, precision, core, scheduling, stand_ins, plan);
  program = spilling.run();
  if (occupancy != nullptr) *occupancy = spilling.occupancy(plan);
  return program;
}

}  // namespace foretell
