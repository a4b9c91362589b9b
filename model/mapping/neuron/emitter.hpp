// Emits the instructions of kernels: PSUM groups, evictions, lane instructions, weight loads.
//
// The emitter keeps what the lowering of every kernel needs: which bank of PSUM is free when,
// which weights are in SBUF, and where the activations of the graph are. Program order is operator
// by operator and tile by tile; overlap comes from the queues, there are no barriers.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "hw/spec/neuron/neuron_spec.hpp"
#include "model/mapping/neuron/kernel.hpp"
#include "model/mapping/neuron/scheduling.hpp"
#include "model/program/program_builder.hpp"

namespace foretell {

inline constexpr std::int64_t kTileRows = 128;         // partitions: tokens of a tile
inline constexpr std::int64_t kNarrowRows = 64;        // tokens that do not fill the partitions
inline constexpr std::int64_t kBankColumns = 512;      // FP32 columns of a PSUM bank
inline constexpr std::int64_t kFreeElements = 65'536;  // free size of a lane instruction on SBUF
inline constexpr std::int64_t kBnStatsElements = 512;  // free size of bn_stats (ISA:386)

// Flags of lane instructions that add, multiply or subtract, by where they read.
inline constexpr std::uint16_t kFromSbuf = kReadsSbuf | kWritesSbuf | kAddMulSub;
inline constexpr std::uint16_t kFromPsum = kReadsPsum | kFromSbuf;

// Blocks of 128 columns of a feature-major value.
inline std::int64_t blocks_of(std::int64_t columns) {
  return (columns + kTileRows - 1) / kTileRows;
}

// An activation as it lies in SBUF. Token-major: rows (tokens) on partitions, one entry per tile of
// 128 rows. Feature-major (transposed): columns on partitions, one entry per block of 128 columns
// and tile of 128 rows, [block * tiles + tile]. An empty vector: not in that layout.
struct Value {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Deps> token_major;
  std::vector<Deps> feature_major;

  std::int64_t tiles() const { return (rows + kTileRows - 1) / kTileRows; }
  std::int64_t blocks() const { return (columns + kTileRows - 1) / kTileRows; }

  // A reader may see the same elements in another shape than they were computed in; what it finds
  // beyond the end is ready with the last of them.
  const Deps& features(std::int64_t block, std::int64_t tile) const {
    const std::int64_t at = block * tiles() + std::min(tile, tiles() - 1);
    return feature_major[std::min(static_cast<std::size_t>(at), feature_major.size() - 1)];
  }
  const Deps& tokens(std::int64_t tile) const {
    return token_major[std::min(static_cast<std::size_t>(tile), token_major.size() - 1)];
  }
};

// Element types of a mapped graph.
struct MappingTypes {
  ElementType matmul = ElementType::kBf16;  // operands of the tensor engine
  ElementType vector = ElementType::kFp32;  // everything else
  double weight_bytes = 2;                  // per stored element of a matmul weight
  bool dequantise = false;                  // stored type is not the operand type
};

class Emitter {
 public:
  Emitter(ProgramBuilder& builder, const NeuronCoreSpec& core, const MappingTypes& types,
          const SchedulingParameters& scheduling);

  ProgramBuilder& builder() { return builder_; }
  const NeuronCoreSpec& core() const { return core_; }
  const MappingTypes& types() const { return types_; }
  const SchedulingParameters& scheduling() const { return scheduling_; }
  int vector_bytes() const { return element_bytes(types_.vector); }

  // Attributes what follows to the operator of the graph.
  void attribute_to(const Graph& graph, OpId op);

  // --- tensor engine -------------------------------------------------------------------------
  // The next PSUM bank, round robin. Groups written to it wait until it has been evicted.
  std::uint8_t acquire_bank();
  struct MatMulShape {
    std::int64_t contraction = kTileRows;  // rows of the array used
    std::int64_t stationary = kTileRows;   // columns of the stationary operand
    std::int64_t moving = kBankColumns;    // columns of the moving operand
  };
  // LoadStationary and MultiplyMoving into `bank`; `first`/`last` mark the accumulation group.
  Deps matmul(std::uint8_t bank, const MatMulShape& shape, const Deps& operands, bool first,
              bool last);
  // PE transpose of a [rows x columns] block into `bank`.
  Deps transpose(std::uint8_t bank, std::int64_t rows, std::int64_t columns, const Deps& operand);
  // Declares that `bank` is free once `evicted` has ended.
  void release_bank(std::uint8_t bank, const Deps& evicted) { bank_free_[bank] = evicted; }

  // --- lane engines --------------------------------------------------------------------------
  struct Lane {
    Opcode opcode = Opcode::kTensorCopy;
    std::int64_t n = 0;  // elements per partition
    std::uint16_t flags = kReadsSbuf | kWritesSbuf;
    std::int64_t partitions = kTileRows;
  };
  Deps lane(Engine engine, const Lane& lane, const Deps& deps);
  // PSUM -> SBUF copy, optionally with a per-partition bias or a constant factor (both free).
  Deps evict(std::uint8_t bank, std::int64_t columns, const Deps& group);

  // --- memory --------------------------------------------------------------------------------
  // Rows of `row_bytes` each from HBM on `ring`, or to it.
  Deps transfer(Ring ring, TransferDirection direction, std::int64_t rows, std::int64_t row_bytes,
                const Deps& deps);

  // The state of an activation tensor.
  Value& value(TensorId id) { return values_[id]; }
  bool has_value(TensorId id) const { return values_.count(id) != 0; }
  void alias(TensorId from, TensorId to) { values_[to] = values_.at(from); }

 private:
  ProgramBuilder& builder_;
  const NeuronCoreSpec& core_;
  MappingTypes types_;
  SchedulingParameters scheduling_;
  std::uint8_t next_bank_ = 0;
  std::vector<Deps> bank_free_;
  std::map<OpId, std::int32_t> operators_;
  std::map<TensorId, Value> values_;
};

}  // namespace foretell
