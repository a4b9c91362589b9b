#include "model/timing/neuron/instruction_work.hpp"

#include <gtest/gtest.h>

namespace foretell {
namespace {

Instruction product() {
  Instruction instruction;
  instruction.opcode = Opcode::kMultiplyMoving;
  instruction.type = ElementType::kBf16;
  instruction.n = 512;
  instruction.aux = 64;
  instruction.partitions = 128;
  return instruction;
}

TEST(InstructionWork, ProductIsTwoFlopsPerMultiplyAdd) {
  EnergyWork work;
  count_instruction(Engine::kTensor, product(), work);
  EXPECT_DOUBLE_EQ(work.matrix_16.value(), 2.0 * 512 * 64 * 128);
  EXPECT_DOUBLE_EQ(work.matrix_8.value(), 0);
  EXPECT_DOUBLE_EQ(work.sram.value(), 512 * 128 * 2 + 512 * 64 * 4);
}

TEST(InstructionWork, WidthOfTheOperandsDecidesTheType) {
  Instruction wide = product();
  wide.type = ElementType::kTf32;
  Instruction narrow = product();
  narrow.type = ElementType::kFp8;
  EnergyWork work;
  count_instruction(Engine::kTensor, wide, work);
  count_instruction(Engine::kTensor, narrow, work);
  EXPECT_EQ(work.matrix_32.value(), work.matrix_8.value());
  EXPECT_EQ(work.matrix_16.value(), 0);
}

TEST(InstructionWork, LanesCountElementsAndSpecialFunctions) {
  Instruction lane;
  lane.opcode = Opcode::kTensorTensor;
  lane.n = 100;
  EnergyWork work;
  count_instruction(Engine::kVector, lane, work);
  EXPECT_DOUBLE_EQ(work.vector.value(), 100 * 128);
  EXPECT_DOUBLE_EQ(work.exponentials, 0);
  lane.opcode = Opcode::kActivate;
  count_instruction(Engine::kScalar, lane, work);
  EXPECT_DOUBLE_EQ(work.exponentials, 100 * 128);
}

TEST(InstructionWork, SemaphoreDoesNothing) {
  EnergyWork work;
  count_instruction(Engine::kSync, Instruction{}, work);
  EXPECT_EQ(work.sram.value() + work.vector.value() + work.exponentials, 0);
}

}  // namespace
}  // namespace foretell
