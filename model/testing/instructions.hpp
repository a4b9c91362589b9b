// Short ways to write an instruction or a transfer in a test.
#pragma once

#include <cstdint>

#include "model/program/program.hpp"

namespace foretell {

inline Instruction lane(Opcode opcode, std::uint32_t n, unsigned flags = 0,
                        ElementType type = ElementType::kFp32) {
  Instruction i;
  i.opcode = opcode;
  i.type = type;
  i.out_type = type;
  i.flags = static_cast<std::uint16_t>(flags);
  i.n = n;
  return i;
}

inline Instruction load_stationary(std::uint32_t columns, ElementType type = ElementType::kBf16) {
  return lane(Opcode::kLoadStationary, columns, 0, type);
}

inline Instruction multiply_moving(std::uint32_t moving, std::uint32_t stationary = 128,
                                   ElementType type = ElementType::kBf16, unsigned flags = 0) {
  Instruction i = lane(Opcode::kMultiplyMoving, moving, flags, type);
  i.aux = stationary;
  return i;
}

inline Instruction transpose(std::uint16_t partitions, std::uint32_t n) {
  Instruction i = lane(Opcode::kTranspose, n, 0, ElementType::kBf16);
  i.partitions = partitions;
  return i;
}

inline Transfer transfer(TransferDirection direction, std::uint32_t descriptors,
                         std::uint32_t descriptor_bytes) {
  Transfer t;
  t.direction = direction;
  t.descriptors = descriptors;
  t.descriptor_bytes = descriptor_bytes;
  return t;
}

inline Transfer load(std::uint32_t descriptors, std::uint32_t descriptor_bytes) {
  return transfer(TransferDirection::kLoad, descriptors, descriptor_bytes);
}

inline Transfer store(std::uint32_t descriptors, std::uint32_t descriptor_bytes) {
  return transfer(TransferDirection::kStore, descriptors, descriptor_bytes);
}

}  // namespace foretell
