#include "model/timing/gpu/energy_work.hpp"

#include <algorithm>
#include <cmath>

#include "hw/spec/shared/kernel_shapes.hpp"
#include "model/base/errors.hpp"
#include "model/base/number_text.hpp"

namespace foretell {
namespace {

constexpr double kWide = 2;  // bytes of activations and results

// Bytes of output tiles; both operands of one come once from L2.
double tile_side() { return kernel_shapes().products.energy_tile; }
double whole_tiles(double side) { return std::ceil(side / tile_side()); }

double left_bytes(OperandType type) { return type.left_bytes > 0 ? type.left_bytes : type.bytes; }

}  // namespace

int bits_of_rate(const std::string& rate) {
  constexpr const char* kDigits = "0123456789";
  const std::size_t digits = rate.find_first_of(kDigits);
  FORETELL_CHECK(digits != std::string::npos, "rates of a chip end in their bits");
  return static_cast<int>(leading_number(rate.substr(digits)).value);
}

EnergyWork gemm_energy_work(const EnergyGemm& shape, OperandType type) {
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  EnergyWork work;
  add_matrix_flops(work, type.bits, Flops(2 * m * n * k));
  work.dram = Bytes(m * k * left_bytes(type) + n * k * type.bytes + m * n * kWide);
  work.l2 = Bytes(whole_tiles(m) * n * k * type.bytes + whole_tiles(n) * m * k * left_bytes(type));
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
  // Half of the tile that the mask cuts is masked on average; a window has two such edges.
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
  const double weights = shape.matrices * shape.hidden * shape.intermediate;
  const double share = 1 / static_cast<double>(shape.loads.size());
  const double tile_rows = shape.tile ? shape.tile->rows : tile_side();
  const double tile_columns = shape.tile ? shape.tile->columns : tile_side();
  for (const ExpertLoad& load : shape.loads) {
    double rows = 0;
    double hit = 0;        // experts that have rows
    double row_tiles = 0;  // each of which reads the weights of its expert
    for (const LayerCall::Groups& group : load.groups) {
      if (group.rows <= 0) continue;
      rows += group.count * group.rows;
      hit += group.count;
      row_tiles += group.count * std::ceil(group.rows / tile_rows);
    }
    const double multiplied = shape.tile ? row_tiles * tile_rows : rows;
    add_matrix_flops(work, type.bits, share * Flops(2 * multiplied * weights));
    // Products read and write rows; what activates and sums up walks choices.
    const double choices = shape.walks_all ? load.tokens * shape.top_k : rows;
    const double walked = shape.activates ? 2 * choices : choices;
    const double passed = kWide * (rows + walked) * (shape.hidden + shape.intermediate);
    work.dram += share * Bytes(hit * weights * type.bytes + passed);
    const double inputs = multiplied * weights / tile_columns;
    work.l2 += share * Bytes(row_tiles * weights * type.bytes + inputs * left_bytes(type) + passed);
  }
  return work;
}

}  // namespace foretell
