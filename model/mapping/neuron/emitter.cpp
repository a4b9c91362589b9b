#include "model/mapping/neuron/emitter.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {

Emitter::Emitter(ProgramBuilder& builder, const CoreShape& core, const MappingTypes& types,
                 const SchedulingParameters& scheduling)
    : builder_(builder),
      core_(core),
      sizes_(tile_sizes(core)),
      types_(types),
      scheduling_(scheduling),
      bank_free_(static_cast<std::size_t>(core.psum.banks)) {}

void Emitter::attribute_to(const Graph& graph, OpId op) {
  const auto known = operators_.find(op);
  if (known != operators_.end()) {
    builder_.resume_operator(known->second);
  } else {
    operators_[op] = builder_.begin_operator(graph.op(op).name);
  }
}

std::uint8_t Emitter::acquire_bank() {
  const std::uint8_t bank = next_bank_;
  next_bank_ = static_cast<std::uint8_t>((next_bank_ + 1) % bank_free_.size());
  return bank;
}

Deps Emitter::matmul(std::uint8_t bank, const MatMulShape& shape, const Deps& operands, bool first,
                     bool last) {
  const std::int64_t rows = core_.tensor.rows;
  const std::int64_t columns = core_.tensor.columns;
  Deps done;
  for (std::int64_t s = 0; s < shape.stationary; s += columns) {
    for (std::int64_t k = 0; k < shape.contraction; k += rows) {
      const MatMulShape part = {std::min(rows, shape.contraction - k),
                                std::min(columns, shape.stationary - s), shape.moving};
      const bool begins = first && s == 0 && k == 0;
      const bool ends = last && s + columns >= shape.stationary && k + rows >= shape.contraction;
      Instruction load;
      load.opcode = Opcode::kLoadStationary;
      load.type = types_.matmul;
      load.partitions = static_cast<std::uint16_t>(part.contraction);
      load.n = static_cast<std::uint32_t>(part.stationary);
      builder_.emit(Engine::kTensor, load, operands);
      done = emit_products(
          bank, part, first ? bank_free_[bank] : Deps{},
          static_cast<std::uint16_t>((begins ? kStartsGroup : 0) | (ends ? kEndsGroup : 0)));
    }
  }
  return done;
}

// The columns of the moving operand, as many at a time as an instruction takes.
Deps Emitter::emit_products(std::uint8_t bank, const MatMulShape& shape, Deps deps,
                            std::uint16_t flags) {
  const std::int64_t most = core_.tensor.max_moving;
  Deps done;
  for (std::int64_t m = 0; m < shape.moving; m += most) {
    const bool ends = m + most >= shape.moving;
    Instruction multiply;
    multiply.opcode = Opcode::kMultiplyMoving;
    multiply.type = types_.matmul;
    multiply.partitions = static_cast<std::uint16_t>(shape.contraction);
    multiply.n = static_cast<std::uint32_t>(std::min(most, shape.moving - m));
    multiply.aux = static_cast<std::uint32_t>(shape.stationary);
    multiply.psum_bank = bank;
    multiply.flags = static_cast<std::uint16_t>(kWritesPsum | (m == 0 ? flags & kStartsGroup : 0) |
                                                (ends ? flags & kEndsGroup : 0));
    done = builder_.emit(Engine::kTensor, multiply, deps);
  }
  return done;
}

Deps Emitter::transpose(std::uint8_t bank, std::int64_t rows, std::int64_t columns,
                        const Deps& operand) {
  Deps deps = bank_free_[bank];
  deps.merge(operand);
  Deps done;
  for (std::int64_t r = 0; r < rows; r += core_.tensor.rows) {
    for (std::int64_t c = 0; c < columns; c += core_.tensor.columns) {
      Instruction i;
      i.opcode = Opcode::kTranspose;
      i.type = types_.matmul;
      i.partitions =
          static_cast<std::uint16_t>(std::min<std::int64_t>(core_.tensor.rows, rows - r));
      i.n = static_cast<std::uint32_t>(std::min<std::int64_t>(core_.tensor.columns, columns - c));
      i.psum_bank = bank;
      i.flags = kWritesPsum | kStartsGroup | kEndsGroup;
      done = builder_.emit(Engine::kTensor, i, deps);
    }
  }
  return done;
}

Deps Emitter::lane(Engine engine, const Lane& lane, const Deps& deps) {
  FORETELL_CHECK(lane.n > 0, "lane instruction without elements");
  Instruction i;
  i.opcode = lane.opcode;
  i.type = types_.vector;
  i.out_type = types_.vector;
  i.flags = lane.flags;
  i.partitions = static_cast<std::uint16_t>(lane.partitions == 0 ? tile_rows() : lane.partitions);
  i.n = static_cast<std::uint32_t>(lane.n);
  i.aux = static_cast<std::uint32_t>(lane.aux);
  return builder_.emit(engine, i, deps);
}

Deps Emitter::pass(Engine engine, const Lane& whole, const Deps& deps) {
  Deps done;
  for (std::int64_t first = 0; first < whole.n; first += free_elements()) {
    Lane piece = whole;
    piece.n = std::min(free_elements(), whole.n - first);
    done = lane(engine, piece, deps);
  }
  return done;
}

Deps Emitter::evict(std::uint8_t bank, std::int64_t columns, const Deps& group) {
  const Deps done =
      lane(Engine::kVector, {Opcode::kTensorScalar, columns, kReadsPsum | kWritesSbuf}, group);
  release_bank(bank, done);
  return done;
}

Deps Emitter::transfer(Ring ring, TransferDirection direction, std::int64_t rows,
                       std::int64_t row_bytes, const Deps& deps) {
  Transfer t;
  t.direction = direction;
  t.descriptors = static_cast<std::uint32_t>(std::max<std::int64_t>(1, rows));
  t.descriptor_bytes = static_cast<std::uint32_t>(std::max<std::int64_t>(1, row_bytes));
  return builder_.emit(ring, t, deps);
}

}  // namespace foretell
