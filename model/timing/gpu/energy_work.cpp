#include "model/timing/gpu/energy_work.hpp"

#include <algorithm>
#include <cmath>

#include "hw/spec/shared/kernel_shapes.hpp"

namespace foretell {
namespace {

constexpr double kWide = 2;  // bytes of activations and results

// Of output tiles; both operands of one come once from L2.
double tile_side() { return kernel_shapes().products.energy_tile; }

}  // namespace

EnergyWork gemm_energy_work(const EnergyGemm& shape, OperandType type) {
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  EnergyWork work;
  add_matrix_flops(work, type.bits, Flops(2 * m * n * k));
  work.dram = Bytes((m * k + n * k) * type.bytes + m * n * kWide);
  work.l2 = Bytes(2 * m * n * k * type.bytes / tile_side());
  return work;
}

double scored_pairs(double queries, double before, double window) {
  const double longest = queries + before;
  if (window <= 0 || window >= longest) return queries * (queries + 1) / 2 + queries * before;
  // Queries at positions before + 1 … longest see min(position, window) keys.
  const double growing = std::clamp(window - before, 0.0, queries);
  return growing * before + growing * (growing + 1) / 2 + (queries - growing) * window;
}

double executed_pairs(double queries, double before, double window) {
  const double longest = queries + before;
  const bool windowed = window > 0 && window < longest;
  // Of the tile that the mask cuts, half is masked on average; a window has two such edges.
  const double masked = queries * (windowed ? tile_side() : tile_side() / 2);
  const double all = queries * std::ceil(longest / tile_side()) * tile_side();
  return std::min(scored_pairs(queries, before, window) + masked, all);
}

EnergyWork attention_energy_work(const EnergyAttention& shape, OperandType type,
                                 double cache_bytes) {
  EnergyWork work;
  const double calls = shape.batch * shape.heads;
  add_matrix_flops(work, type.bits, Flops(4 * calls * shape.head_dim * shape.pairs));
  work.exponentials = calls * shape.pairs;
  const double key_bytes =
      2 * shape.batch * shape.keys * shape.key_heads * shape.head_dim * cache_bytes;
  work.dram = Bytes(key_bytes + 2 * calls * shape.queries * shape.head_dim * kWide);
  const double from_l2 =
      2 * calls * shape.pairs * shape.head_dim * cache_bytes /
      std::min(tile_side(), std::max(1.0, shape.queries * shape.heads / shape.key_heads));
  work.l2 = Bytes(std::max(key_bytes, from_l2));
  return work;
}

EnergyWork experts_energy_work(const EnergyExperts& shape, OperandType type) {
  EnergyWork work;
  const double rows = shape.tokens * shape.top_k / shape.expert_parts;
  const double weights = shape.matrices * shape.hidden * shape.intermediate;
  add_matrix_flops(work, type.bits, Flops(2 * rows * weights));
  const double here = shape.experts / shape.expert_parts;
  const double hit =
      here * -std::expm1(shape.tokens * shape.top_k * std::log1p(-1 / shape.experts));
  const double read = shape.experts > 1 ? hit : here;
  work.dram =
      Bytes(read * weights * type.bytes + 2 * kWide * rows * (shape.hidden + shape.intermediate));
  work.l2 = Bytes(2 * rows * weights * type.bytes / tile_side());
  return work;
}

}  // namespace foretell
