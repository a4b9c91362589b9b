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

#include "hw/spec/neuron/core_shape.hpp"
#include "hw/spec/neuron/tile_sizes.hpp"
#include "model/mapping/neuron/kernel.hpp"
#include "model/mapping/neuron/scheduling.hpp"
#include "model/program/program_builder.hpp"

namespace foretell {

// Flags of lane instructions that add, multiply or subtract, by where they read.
inline constexpr std::uint16_t kFromSbuf = kReadsSbuf | kWritesSbuf | kAddMulSub;
inline constexpr std::uint16_t kFromPsum = kReadsPsum | kFromSbuf;

// An activation as it lies in SBUF. Token-major: rows (tokens) on partitions, one entry per tile of
// `tile_rows` rows. Feature-major (transposed): columns on partitions, one entry per block of
// `tile_rows` columns and tile of as many rows, [block * tiles + tile]. An empty vector: not in
// that layout.
struct Value {
  explicit Value(std::int64_t rows_of_a_tile) : tile_rows(rows_of_a_tile) {}

  std::int64_t tile_rows;  // TileSizes::rows
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<Deps> token_major;
  std::vector<Deps> feature_major;
  std::vector<Deps> narrow;  // of an image, as feature_major, in the type of products beside it

  std::int64_t tiles() const { return (rows + tile_rows - 1) / tile_rows; }
  std::int64_t blocks() const { return (columns + tile_rows - 1) / tile_rows; }

  // A reader may see the same elements in another shape than they were computed in; what it finds
  // beyond the end is ready with the last of them.
  const Deps& features(std::int64_t block, std::int64_t tile) const {
    const std::int64_t at = block * tiles() + std::min(tile, tiles() - 1);
    return feature_major[std::min(static_cast<std::size_t>(at), feature_major.size() - 1)];
  }
  const Deps& tokens(std::int64_t tile) const {
    return token_major[std::min(static_cast<std::size_t>(tile), token_major.size() - 1)];
  }

  // What `count` rows of the flattened tensor wait for, some at least; of features, those of
  // `width` columns.
  Deps tokens_of_rows(std::int64_t first_row, std::int64_t count) const {
    Deps deps;
    for (std::int64_t t = first_row / tile_rows; t <= (first_row + count - 1) / tile_rows; ++t)
      deps.merge(tokens(t));
    return deps;
  }
  Deps features_of_rows(std::int64_t first_column, std::int64_t width, std::int64_t first_row,
                        std::int64_t count) const {
    Deps deps;
    for (std::int64_t block = first_column / tile_rows; block * tile_rows < first_column + width;
         ++block) {
      for (std::int64_t t = first_row / tile_rows; t <= (first_row + count - 1) / tile_rows; ++t)
        deps.merge(features(block, t));
    }
    return deps;
  }
};

// Element types of a mapped graph.
struct MappingTypes {
  ElementType matmul = ElementType::kBf16;  // operands of the tensor engine
  ElementType vector = ElementType::kFp32;  // everything else
  DType operand = DType::kBf16;             // `matmul` as the graph has it
};

class Emitter {
 public:
  Emitter(ProgramBuilder& builder, const CoreShape& core, const MappingTypes& types,
          const SchedulingParameters& scheduling);

  ProgramBuilder& builder() { return builder_; }
  const CoreShape& core() const { return core_; }
  const MappingTypes& types() const { return types_; }
  const SchedulingParameters& scheduling() const { return scheduling_; }
  int vector_bytes() const { return element_bytes(types_.vector); }

  // --- sizes of the core ----------------------------------------------------------------------
  std::int64_t tile_rows() const { return sizes_.rows; }
  std::int64_t bank_columns() const { return sizes_.bank_columns; }
  std::int64_t narrow_rows() const { return sizes_.rows / 2; }  // tokens that do not fill a tile
  std::int64_t free_elements() const { return core_.instruction.max_elements; }
  std::int64_t statistics_elements() const { return core_.instruction.max_statistics; }
  double stream_row() const { return core_.scheduling.stream_row.value(); }
  std::int64_t pass_pixels() const { return core_.scheduling.pass_pixels; }
  std::int64_t eviction_blocks() const { return core_.scheduling.eviction_blocks; }
  // Blocks of a feature-major value.
  std::int64_t blocks_of(std::int64_t columns) const {
    return (columns + tile_rows() - 1) / tile_rows();
  }
  Value new_value() const { return Value(tile_rows()); }

  // Attributes what follows to the operator of the graph.
  void attribute_to(const Graph& graph, OpId op);

  // --- tensor engine -------------------------------------------------------------------------
  // The next PSUM bank, round robin. Groups written to it wait until it has been evicted.
  std::uint8_t acquire_bank();
  struct MatMulShape {
    std::int64_t contraction = 0;  // at most tile_rows()
    std::int64_t stationary = 0;   // columns of the stationary operand, at most tile_rows()
    std::int64_t moving = 0;       // columns of the moving operand, at most bank_columns()
  };
  // LoadStationary and MultiplyMoving into `bank`, once for each part that the array takes at a
  // time; `first`/`last` mark the accumulation group.
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
    std::int64_t partitions = 0;  // 0: all of a tile
    std::int64_t aux = 0;         // of kTopK: how many
  };
  Deps lane(Engine engine, const Lane& lane, const Deps& deps);
  // As many instructions as its elements need, one after the other; the last of them.
  Deps pass(Engine engine, const Lane& whole, const Deps& deps);
  // PSUM -> SBUF copy, optionally with a per-partition bias or a constant factor (both free).
  Deps evict(std::uint8_t bank, std::int64_t columns, const Deps& group);

  // --- memory --------------------------------------------------------------------------------
  // Rows of `row_bytes` each from HBM on `ring`, or to it.
  Deps transfer(Ring ring, TransferDirection direction, std::int64_t rows, std::int64_t row_bytes,
                const Deps& deps);

  // The state of an activation tensor.
  Value& value(TensorId id) { return values_.try_emplace(id, tile_rows()).first->second; }
  bool has_value(TensorId id) const { return values_.count(id) != 0; }
  void alias(TensorId from, TensorId to) { value(to) = values_.at(from); }

 private:
  Deps emit_products(std::uint8_t bank, const MatMulShape& shape, Deps deps, std::uint16_t flags);
  ProgramBuilder& builder_;
  const CoreShape& core_;
  TileSizes sizes_;
  MappingTypes types_;
  SchedulingParameters scheduling_;
  std::uint8_t next_bank_ = 0;
  std::vector<Deps> bank_free_;
  std::map<OpId, std::int32_t> operators_;
  std::map<TensorId, Value> values_;
};

}  // namespace foretell
