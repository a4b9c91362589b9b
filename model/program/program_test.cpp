// What validate() lets pass and what it refuses, on both sides of every limit, with the message.
#include "model/program/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>

#include "model/base/errors.hpp"
#include "model/testing/instructions.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

std::string complaint(const Program& program, const ProgramLimits& limits = {}) {
  try {
    validate(program, limits);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

Program with(Engine engine, const Instruction& instruction) {
  Program program;
  auto& queue = program.engine(engine);
  queue.push_back(lane(Opcode::kSemaphoreOnly, 0));  // so that the offender is not the first
  queue.push_back(instruction);
  return program;
}

Program with(const Transfer& transfer) {
  Program program;
  program.add_ring("weights", {transfer});
  return program;
}

TEST(Program, CountsItsEntries) {
  Program program = with(Engine::kVector, lane(Opcode::kTensorCopy, 64));
  program.add_ring("weights", {load(1, 64), load(1, 64)});
  program.add_ring("inputs", {load(1, 64)});
  EXPECT_EQ(program.entry_count(), 5U);
  EXPECT_EQ(program.transfers().size(), 3U);
  EXPECT_EQ(program.ring_count(), 2U);
  EXPECT_EQ(program.collective_queue(), program.streams.size());  // it has none
}

TEST(Instruction, NamesAreAllDifferent) {
  std::set<std::string_view> names;
  for (int o = 0; o < kOpcodeCount; ++o) names.insert(to_string(static_cast<Opcode>(o)));
  EXPECT_EQ(names.size(), static_cast<std::size_t>(kOpcodeCount));
  EXPECT_EQ(names.count(""), 0U);
  EXPECT_EQ(to_string(Opcode::kMultiplyMoving), "multiply_moving");
  EXPECT_EQ(to_string(Opcode::kLocalGather), "local_gather");
  EXPECT_EQ(to_string(Opcode::kSemaphoreOnly), "semaphore_only");
}

TEST(Instruction, EveryOpcodeRunsSomewhere) {
  for (int o = 0; o < kOpcodeCount; ++o) {
    const auto opcode = static_cast<Opcode>(o);
    EXPECT_NE(engines_of(opcode), "") << to_string(opcode);
    if (opcode != Opcode::kSemaphoreOnly) {
      EXPECT_FALSE(runs_on(opcode, Engine::kSync)) << to_string(opcode);
    }
  }
  EXPECT_EQ(engines_of(Opcode::kTensorCopy), "vector or scalar or gpsimd");
}

TEST(ElementType, Bytes) {
  EXPECT_EQ(element_bytes(ElementType::kFp32), 4);
  EXPECT_EQ(element_bytes(ElementType::kTf32), 4);
  EXPECT_EQ(element_bytes(ElementType::kBf16), 2);
  EXPECT_EQ(element_bytes(ElementType::kFp16), 2);
  EXPECT_EQ(element_bytes(ElementType::kFp8), 1);
  EXPECT_EQ(element_bytes(ElementType::kInt8), 1);
  EXPECT_EQ(element_bytes(ElementType::kInt32), 4);
}

// An instruction at the limit passes, and one beyond it is refused with these words.
struct Limit {
  const char* name;
  Engine engine;
  Instruction instruction;
  std::function<void(Instruction*)> go_beyond;
  const char* message;
};

class InstructionLimit : public ::testing::TestWithParam<Limit> {};

TEST_P(InstructionLimit, HoldsOnBothSides) {
  Limit limit = GetParam();
  EXPECT_EQ(complaint(with(limit.engine, limit.instruction)), "");
  limit.go_beyond(&limit.instruction);
  EXPECT_EQ(complaint(with(limit.engine, limit.instruction)), limit.message);
}

Instruction in_bank(std::uint8_t bank, std::uint32_t n) {
  Instruction i = multiply_moving(n);
  i.psum_bank = bank;
  return i;
}

INSTANTIATE_TEST_SUITE_P(
    All, InstructionLimit,
    ::testing::Values(
        Limit{"Partitions", Engine::kVector, lane(Opcode::kTensorCopy, 64),
              [](Instruction* i) { i->partitions = 129; },
              "vector[1] tensor_copy: partitions is 129, the limit is 128"},
        Limit{"NoPartitions", Engine::kVector, lane(Opcode::kTensorCopy, 64),
              [](Instruction* i) { i->partitions = 0; },
              "vector[1] tensor_copy: 0 partitions; state 1 to 128"},
        Limit{"NoElements", Engine::kScalar, lane(Opcode::kActivate, 1),
              [](Instruction* i) { i->n = 0; },
              "scalar[1] activate: size n is 0; state at least 1 element"},
        Limit{"StationaryColumns", Engine::kTensor, load_stationary(128),
              [](Instruction* i) { i->n = 129; },
              "tensor[1] load_stationary: columns of the stationary operand is 129, the limit is "
              "128"},
        Limit{"StationaryOfTheMultiply", Engine::kTensor, multiply_moving(512, 128),
              [](Instruction* i) { i->aux = 129; },
              "tensor[1] multiply_moving: columns of the stationary operand is 129, the limit is "
              "128"},
        Limit{"MovingColumns", Engine::kTensor, multiply_moving(512),
              [](Instruction* i) { i->n = 513; },
              "tensor[1] multiply_moving: columns of the moving operand is 513, the limit is 512"},
        Limit{"PsumBank", Engine::kTensor, in_bank(7, 512),
              [](Instruction* i) { i->psum_bank = 8; },
              "tensor[1] multiply_moving: PSUM bank number + 1 is 9, the limit is 8"},
        Limit{"SbufElements", Engine::kVector, lane(Opcode::kTensorCopy, 65536, kReadsSbuf),
              [](Instruction* i) { i->n = 65537; },
              "vector[1] tensor_copy: elements per partition in SBUF is 65537, the limit is 65536"},
        Limit{"PsumElements", Engine::kVector, lane(Opcode::kTensorCopy, 4096, kReadsPsum),
              [](Instruction* i) { i->n = 4097; },
              "vector[1] tensor_copy: elements per partition in PSUM is 4097, the limit is 4096"},
        Limit{"PsumElementsWritten", Engine::kScalar, lane(Opcode::kActivate, 4096, kWritesPsum),
              [](Instruction* i) { i->n = 4097; },
              "scalar[1] activate: elements per partition in PSUM is 4097, the limit is 4096"},
        Limit{"BnStats", Engine::kVector, lane(Opcode::kBnStats, 512),
              [](Instruction* i) { i->n = 513; },
              "vector[1] bn_stats: elements per partition of bn_stats is 513, the limit is 512"},
        Limit{"MatmulElsewhere", Engine::kTensor, multiply_moving(64),
              [](Instruction* i) { i->opcode = Opcode::kActivate; },
              "tensor[1] activate: the tensor engine does not run it; put it in the scalar queue"},
        Limit{"GpSimdHasNoPsum", Engine::kGpSimd, lane(Opcode::kTensorCopy, 64, kReadsSbuf),
              [](Instruction* i) { i->flags = kReadsPsum; },
              "gpsimd[1] tensor_copy: the gpsimd engine has no access to PSUM; use vector or "
              "scalar"},
        Limit{"OneTensorInPsum", Engine::kVector,
              lane(Opcode::kTensorTensor, 64, kReadsPsum | kReadsSbuf),
              [](Instruction* i) { i->flags = kReadsPsum; },
              "vector[1] tensor_tensor: both tensors are in PSUM; one of them has to be in SBUF"}),
    [](const auto& limit) { return std::string(limit.param.name); });

TEST(Validate, ABankHoldsOnlyItsColumns) {
  ProgramLimits small;
  small.psum_bank_columns = 256;
  EXPECT_EQ(complaint(with(Engine::kTensor, in_bank(0, 256)), small), "");
  EXPECT_EQ(
      complaint(with(Engine::kTensor, in_bank(0, 257)), small),
      "tensor[1] multiply_moving: FP32 columns written to one PSUM bank (overflow) is 257, the "
      "limit is 256");
}

TEST(Validate, SyncRunsNothingButSemaphores) {
  EXPECT_EQ(complaint(with(Engine::kSync, lane(Opcode::kSemaphoreOnly, 0))), "");
  EXPECT_THAT(complaint(with(Engine::kSync, lane(Opcode::kTensorCopy, 64))),
              HasSubstr("the sync engine does not run it"));
}

// Bits of the mask, row by row of 4x4 quadrants.
TEST(Validate, PeTilesAreRectanglesOfMoreThanOneQuadrant) {
  const auto tile = [](std::uint16_t mask) {
    Instruction i = multiply_moving(64, 32);
    i.tile = mask;
    return complaint(with(Engine::kTensor, i));
  };
  EXPECT_EQ(tile(0), "");       // the whole array
  EXPECT_EQ(tile(0xFFFF), "");  // likewise
  EXPECT_EQ(tile(0x0033), "");  // 64x64
  EXPECT_EQ(tile(0x0003), "");  // 32x64
  EXPECT_EQ(tile(0x0110), "");  // 64x32
  EXPECT_EQ(tile(0x0660), "");  // 64x64 in the middle
  EXPECT_THAT(tile(0x0001), HasSubstr("a PE tile of 32 rows and 32 columns does not exist"));
  EXPECT_THAT(tile(0x8000), HasSubstr("a PE tile of 32 rows and 32 columns does not exist"));
  EXPECT_THAT(tile(0x0005), HasSubstr("its PE tile is no rectangle"));  // a gap between columns
  EXPECT_THAT(tile(0x0303), HasSubstr("its PE tile is no rectangle"));  // a gap between rows
  EXPECT_THAT(tile(0x0031), HasSubstr("its PE tile is no rectangle"));  // an L
}

TEST(Validate, TransfersStayInsideTheMemory) {
  ProgramLimits limits;
  limits.hbm_bytes = 1 << 20;
  Transfer t = load(128, 4096);
  t.hbm_address = (1 << 20) - 128 * 4096;
  EXPECT_EQ(complaint(with(t), limits), "");
  ++t.hbm_address;
  EXPECT_EQ(complaint(with(t), limits),
            "dma weights[0]: end address in HBM is 1048577, the limit is 1048576");
  t.direction = TransferDirection::kOnChip;  // does not touch the HBM
  EXPECT_EQ(complaint(with(t), limits), "");
  t = store(0xFFFFFFFFU, 0xFFFFFFFFU);  // end wraps around 64 bits
  t.hbm_address = 1 << 20;
  EXPECT_THAT(complaint(with(t), limits), HasSubstr("the limit is 1048576"));
  EXPECT_EQ(complaint(with(load(0, 64))),
            "dma weights[0]: moves 0 bytes; state descriptors and their size");
  EXPECT_EQ(complaint(with(load(64, 0))),
            "dma weights[0]: moves 0 bytes; state descriptors and their size");
}

TEST(Validate, SemaphoresAndWaitsExist) {
  Instruction i = lane(Opcode::kTensorCopy, 64);
  i.wait_count = 1;
  Program program = with(Engine::kVector, i);
  EXPECT_THAT(complaint(program),
              HasSubstr("vector[1] tensor_copy: end of its list of waits is 1"));
  program.waits = {{0, 1}};
  EXPECT_EQ(complaint(program),
            "vector[1] tensor_copy: semaphore number 0 does not exist; the program declares 0");
  program.semaphores = {"loaded"};
  EXPECT_EQ(complaint(program), "");
  program.engine(Engine::kVector)[1].signal = 1;
  EXPECT_EQ(complaint(program),
            "vector[1] tensor_copy: semaphore number 1 does not exist; the program declares 1");
  program.semaphores.emplace_back("copied");
  EXPECT_EQ(complaint(program), "");
  Transfer t = load(1, 64);
  t.signal = 2;
  program.add_ring("weights", {t});
  EXPECT_EQ(complaint(program),
            "dma weights[0]: semaphore number 2 does not exist; the program declares 2");
}

}  // namespace
}  // namespace foretell
