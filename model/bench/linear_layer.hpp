// The program that benchmarks of NeuronCores run.
#pragma once

#include <cstdint>
#include <utility>

#include "model/program/program_builder.hpp"

namespace foretell {

inline Instruction bf16_instruction(Opcode opcode, std::uint32_t n) {
  Instruction made;
  made.opcode = opcode;
  made.type = ElementType::kBf16;
  made.out_type = ElementType::kBf16;
  made.n = n;
  made.aux = 128;
  return made;
}

// A linear layer as the engines see it, `tiles` times: load weights, multiply, drain, store.
// Modules count work for entries that belong to an operator; without `counts` none does.
inline Program linear_layer(std::int64_t tiles, bool counts) {
  ProgramBuilder builder("linear");
  if (counts) builder.begin_operator("linear");
  Transfer load;
  load.descriptors = 128;
  load.descriptor_bytes = 256;
  Transfer store = load;
  store.direction = TransferDirection::kStore;
  for (std::int64_t tile = 0; tile < tiles; ++tile) {
    Deps deps = builder.emit(Ring::kWeights, load, {});
    deps = builder.emit(Engine::kTensor, bf16_instruction(Opcode::kLoadStationary, 128), deps);
    Instruction multiply = bf16_instruction(Opcode::kMultiplyMoving, 512);
    multiply.psum_bank = static_cast<std::uint8_t>(tile % 8);
    multiply.flags = kWritesPsum | kStartsGroup | kEndsGroup;
    deps = builder.emit(Engine::kTensor, multiply, deps);
    Instruction drain = bf16_instruction(Opcode::kActivate, 512);
    drain.flags = kReadsPsum | kWritesSbuf;
    deps = builder.emit(Engine::kScalar, drain, deps);
    builder.emit(Ring::kOutputs, store, deps);
  }
  return std::move(builder).finish();
}

}  // namespace foretell
