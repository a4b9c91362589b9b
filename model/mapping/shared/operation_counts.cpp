#include "model/mapping/shared/operation_counts.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

namespace foretell {
namespace {

constexpr double kBitsPerByte = 8;

bool has_products(FusedKind kind) {
  return kind != FusedKind::kPass && kind != FusedKind::kCollective;
}

// Bits of the operands that are multiplied. A product whose weights are wider than the type of the
// policy is not quantised; attention multiplies activations.
double operand_bits(const Graph& graph, const FusedOp& fused, const PrecisionPolicy& precision) {
  const double compute = size_of(precision.matmul_compute).value();
  double bytes = compute;
  if (fused.kind == FusedKind::kAttention || fused.kind == FusedKind::kProduct ||
      fused.kind == FusedKind::kScan || fused.kind == FusedKind::kIndexer) {
    bytes = std::max(bytes, compute < 2 ? size_of(precision.vector).value() : compute);
  } else if (!fused.weights.empty()) {
    const Tensor& weight = graph.tensor(fused.weights.front());
    if (size_of(weight.dtype).value() > compute) bytes = size_of(precision.vector).value();
    if (const auto own = own_operands(precision, weight)) bytes = size_of(*own).value();
  }
  return std::floor(kBitsPerByte * bytes);  // without scales
}

bool is_special(std::string_view kind) {
  static const std::set<std::string_view> kKinds = {"Softmax", "Gelu", "Tanh", "Silu",
                                                    "Sigmoid", "Exp",  "Erf"};
  return kKinds.count(kind) > 0;
}

}  // namespace

EnergyWork operation_counts(const Graph& graph, const FusedOp& fused,
                            const PrecisionPolicy& precision) {
  EnergyWork work;
  Flops flops;
  for (const OpId id : fused.ops) {
    const Op& op = graph.op(id);
    flops += graph.flops(id);
    if (fused.kind == FusedKind::kAttention || !is_special(op.kind)) continue;
    work.exponentials += static_cast<double>(element_count(graph.tensor(op.outputs.front()).shape));
  }
  if (!has_products(fused.kind)) {
    work.vector += flops;
    return work;
  }
  add_matrix_flops(work, operand_bits(graph, fused, precision), flops);
  if (fused.kind == FusedKind::kAttention && fused.attention.head_dim > 0) {
    // Scores and context are 2 FLOP per pair and dimension each.
    work.exponentials += flops.value() / (4 * static_cast<double>(fused.attention.head_dim));
  }
  return work;
}

}  // namespace foretell
