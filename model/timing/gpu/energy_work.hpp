// What kernels do, counted for their energy: closed forms of the shapes that tables of measurements
// state. Bytes of device memory are those that have to move once; bytes between L2 and the SMs are
// those of output tiles, counted whole: no less than what comes from memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/timing/gpu/expert_loads.hpp"
#include "model/timing/shared/energy_timing.hpp"

namespace foretell {

// Width of a matrix type: 4, 8 or 16 bits of an operand, and the bytes that one takes with scales.
struct OperandType {
  int bits = 16;
  double bytes = 2;       // of weights
  double left_bytes = 0;  // of activations, where they are not as wide as weights; else 0
};
// The bits of the rate of a chip that counts: "bf16" has 16.
int bits_of_rate(const std::string& rate);

struct EnergyGemm {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};
EnergyWork gemm_energy_work(const EnergyGemm& shape, OperandType type);

struct EnergyAttention {
  double batch = 1;
  double queries = 1;  // per sequence
  double pairs = 1;    // of queries and keys that are scored, per sequence and head
  double keys = 1;     // that are read, per sequence
  double heads = 1;
  double key_heads = 1;
  double head_dim = 1;
};
// Pairs of `queries` new tokens after `before` older ones, causal, inside a window (0: none).
double scored_pairs(double queries, double before, double window);
// The same with what kernels compute and mask: whole tiles of keys.
double executed_pairs(double queries, double before, double window);
EnergyWork attention_energy_work(const EnergyAttention& shape, OperandType type,
                                 double cache_bytes);

// The GPU that counts.
struct EnergyExperts {
  std::vector<ExpertLoad> loads;  // of which the work is the mean
  double hidden = 1;
  double intermediate = 1;  // on this GPU
  double top_k = 1;
  bool walks_all = false;  // passes over the choices of all tokens, whoever has the expert
  bool activates = true;   // by a pass of its own, else in the first products
  int matrices = 3;        // with a gate; 2 without
  // The tile of the products, which fill rows up to it; none where it is not known: rows are those
  // that there are, and bytes those of square tiles.
  std::optional<LayerTile> tile;
};
EnergyWork experts_energy_work(const EnergyExperts& shape, OperandType type);

}  // namespace foretell
