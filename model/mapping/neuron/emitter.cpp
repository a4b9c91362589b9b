#include "model/mapping/neuron/emitter.hpp"

#include <algorithm>

#include "model/base/errors.hpp"

namespace foretell {

Emitter::Emitter(ProgramBuilder& builder, const NeuronCoreSpec& core, const MappingTypes& types,
                 const SchedulingParameters& scheduling)
    : builder_(builder),
      core_(core),
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
  Instruction load;
  load.opcode = Opcode::kLoadStationary;
  load.type = types_.matmul;
  load.partitions = static_cast<std::uint16_t>(shape.contraction);
  load.n = static_cast<std::uint32_t>(shape.stationary);
  builder_.emit(Engine::kTensor, load, operands);

  Instruction multiply = load;
  multiply.opcode = Opcode::kMultiplyMoving;
  multiply.n = static_cast<std::uint32_t>(shape.moving);
  multiply.aux = static_cast<std::uint32_t>(shape.stationary);
  multiply.psum_bank = bank;
  multiply.flags = static_cast<std::uint16_t>(kWritesPsum | (first ? kStartsGroup : 0) |
                                              (last ? kEndsGroup : 0));
  return builder_.emit(Engine::kTensor, multiply, first ? bank_free_[bank] : Deps{});
}

Deps Emitter::transpose(std::uint8_t bank, std::int64_t rows, std::int64_t columns,
                        const Deps& operand) {
  Instruction i;
  i.opcode = Opcode::kTranspose;
  i.type = types_.matmul;
  i.partitions = static_cast<std::uint16_t>(rows);
  i.n = static_cast<std::uint32_t>(columns);
  i.psum_bank = bank;
  i.flags = kWritesPsum | kStartsGroup | kEndsGroup;
  Deps deps = bank_free_[bank];
  deps.merge(operand);
  return builder_.emit(Engine::kTensor, i, deps);
}

Deps Emitter::lane(Engine engine, const Lane& lane, const Deps& deps) {
  FORETELL_CHECK(lane.n > 0, "lane instruction without elements");
  Instruction i;
  i.opcode = lane.opcode;
  i.type = types_.vector;
  i.out_type = types_.vector;
  i.flags = lane.flags;
  i.partitions = static_cast<std::uint16_t>(lane.partitions);
  i.n = static_cast<std::uint32_t>(lane.n);
  return builder_.emit(engine, i, deps);
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
