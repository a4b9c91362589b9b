#include "model/program/file/program_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/base/errors.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

Program parse(const std::string& text, const ProgramFileOptions& options = {}) {
  return parse_program(text, "x.yaml", options);
}

std::string message_of(const std::string& text, const ProgramFileOptions& options = {}) {
  try {
    parse(text, options);
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

const std::vector<Instruction>& queue(const Program& program, Engine engine) {
  return program.engine(engine);
}

// The waits of an entry as "name>=threshold".
template <class Entry>
std::vector<std::string> waits_of(const Program& program, const Entry& entry) {
  std::vector<std::string> waits;
  for (std::uint32_t w = entry.first_wait; w < entry.first_wait + entry.wait_count; ++w) {
    const Wait& wait = program.waits[w];
    waits.push_back(program.semaphores[wait.semaphore] + ">=" + std::to_string(wait.threshold));
  }
  return waits;
}

template <class Entry>
std::string signal_of(const Program& program, const Entry& entry) {
  return entry.signal == kNoSemaphore ? "" : program.semaphores[entry.signal];
}

// A program of one vector queue, the statements as given (indented by 4).
std::string vector_program(const std::string& statements, const std::string& head = "") {
  return "program: p\ntype: bf16\n" + head + "queues:\n  vector:\n" + statements;
}

TEST(ProgramFile, AnInstructionCarriesWhatItsKeysSay) {
  const Program program = parse(R"(
program: one of each
queues:
  tensor:
    - {load_stationary: 64, type: bf16, partitions: 32, tile: {row: 32, column: 64, rows: 32, columns: 64}}
    - {multiply_moving: 256, stationary: 64, type: fp32, bank: 3, onezero: true}
  vector:
    - {tensor_tensor: 512, type: bf16, out: fp32, alu: add, reads: [psum, sbuf], writes: psum, dependent: true, stride: wide}
    - {memset: 64, type: fp32, fill: zero}
  gpsimd:
    - {topk: 1000, type: fp32, k: 8}
)");
  EXPECT_EQ(program.name, "one of each");
  const Instruction& load = queue(program, Engine::kTensor)[0];
  EXPECT_EQ(load.opcode, Opcode::kLoadStationary);
  EXPECT_EQ(load.n, 64U);
  EXPECT_EQ(load.partitions, 32);
  EXPECT_EQ(load.tile, 0b1100'0000);  // row 1, columns 2 and 3 of the 4x4 quadrants
  const Instruction& multiply = queue(program, Engine::kTensor)[1];
  EXPECT_EQ(multiply.n, 256U);
  EXPECT_EQ(multiply.aux, 64U);
  EXPECT_EQ(multiply.psum_bank, 3);
  EXPECT_EQ(multiply.type, ElementType::kFp32);
  EXPECT_EQ(multiply.flags, kReadsSbuf | kWritesPsum | kOneZeroStationary);
  const Instruction& add = queue(program, Engine::kVector)[0];
  EXPECT_EQ(add.type, ElementType::kBf16);
  EXPECT_EQ(add.out_type, ElementType::kFp32);
  EXPECT_EQ(add.flags, kReadsPsum | kReadsSbuf | kWritesPsum | kDependsOnPrevious | kWideStride |
                           kAddMulSub | kAddOrMax);
  EXPECT_EQ(queue(program, Engine::kVector)[1].flags, kReadsSbuf | kWritesSbuf | kZeroFill);
  EXPECT_EQ(queue(program, Engine::kGpSimd)[0].aux, 8U);
}

TEST(ProgramFile, ATransferCarriesWhatItsKeysSay) {
  const Program program = parse(R"(
program: p
hbm: {first: 1 MiB, second: 2 MiB}
rings:
  in:
    - {load: second, rows: 128, row_bytes: 2 KiB, offset: 1 MiB, transposes: true}
    - {store: first, rows: 1, row_bytes: 4, casts: true}
    - {copy: sbuf, rows: 2, row_bytes: 8}
)");
  ASSERT_EQ(program.ring_count(), 1U);
  EXPECT_EQ(program.streams[kEngineCount].name, "in");
  const auto& transfers = program.ring(0);
  EXPECT_EQ(transfers[0].direction, TransferDirection::kLoad);
  EXPECT_EQ(transfers[0].descriptors, 128U);
  EXPECT_EQ(transfers[0].descriptor_bytes, 2048U);
  EXPECT_EQ(transfers[0].hbm_address, 2U << 20U);  // after `first`, 1 MiB into `second`
  EXPECT_EQ(transfers[0].flags, kTransposes);
  EXPECT_EQ(transfers[1].direction, TransferDirection::kStore);
  EXPECT_EQ(transfers[1].hbm_address, 0U);
  EXPECT_EQ(transfers[1].flags, kCasts);
  EXPECT_EQ(transfers[2].direction, TransferDirection::kOnChip);
}

TEST(ProgramFile, LoopsUnrollWithTheirIndices) {
  const Program program = parse(R"(
program: p
type: bf16
parameters: {tiles: 6, twice: 2 * tiles}
queues:
  tensor:
    - repeat: tiles / 2
      index: i
      body:
        - {load_stationary: 16 * (i + 1)}
        - repeat: 2
          index: j
          body:
            - {multiply_moving: twice, bank: (2 * i + j) % 4}
)");
  const auto& tensor = queue(program, Engine::kTensor);
  ASSERT_EQ(tensor.size(), 9U);
  std::vector<int> banks;
  for (std::size_t i = 0; i < 9; ++i) {
    if (i % 3 == 0) {
      EXPECT_EQ(tensor[i].n, 16 * (i / 3 + 1));
    } else {
      EXPECT_EQ(tensor[i].n, 12U);
      banks.push_back(tensor[i].psum_bank);
    }
  }
  EXPECT_THAT(banks, testing::ElementsAre(0, 1, 2, 3, 0, 1));
}

TEST(ProgramFile, ParametersCanBeReplacedAndOthersFollow) {
  const std::string text =
      vector_program("    - {tensor_copy: half}\n", "parameters: {n: 64, half: n / 2}\n");
  EXPECT_EQ(queue(parse(text), Engine::kVector)[0].n, 32U);
  ProgramFileOptions options;
  options.parameters = {{"n", 100}};
  EXPECT_EQ(queue(parse(text, options), Engine::kVector)[0].n, 50U);
  options.parameters = {{"hlf", 1}};
  EXPECT_THAT(message_of(text, options), HasSubstr("unknown parameter 'hlf'; nearest is 'half'"));
}

TEST(ProgramFile, TypeAndOperatorAreInherited) {
  const Program program = parse(R"(
program: p
type: bf16
queues:
  vector:
    - {tensor_copy: 1}
    - type: fp32
      operator: softmax
      body:
        - {tensor_copy: 1}
        - {tensor_copy: 1, type: fp16, operator: other}
    - {tensor_copy: 1, operator: softmax}
)");
  const auto& vector = queue(program, Engine::kVector);
  EXPECT_EQ(vector[0].type, ElementType::kBf16);
  EXPECT_EQ(vector[1].type, ElementType::kFp32);
  EXPECT_EQ(vector[1].out_type, ElementType::kFp32);
  EXPECT_EQ(vector[2].type, ElementType::kFp16);
  EXPECT_THAT(program.operators, testing::ElementsAre("p", "softmax", "other"));
  EXPECT_EQ(vector[0].op, 0);
  EXPECT_EQ(vector[1].op, 1);
  EXPECT_EQ(vector[2].op, 2);
  EXPECT_EQ(vector[3].op, 1);
}

// Two buffers: the third load waits until the first buffer has been read.
TEST(ProgramFile, CountingSemaphoresBecomeThresholds) {
  const Program program = parse(R"(
program: double buffering
type: bf16
hbm: {x: 1 MiB}
semaphores: {full: 0, empty: 2}
rings:
  in:
    - repeat: 4
      body:
        - {load: x, rows: 1, row_bytes: 4, take: empty, give: full}
queues:
  vector:
    - repeat: 4
      body:
        - {tensor_copy: 1, take: full, give: empty}
)");
  const auto& loads = program.ring(0);
  EXPECT_THAT(waits_of(program, loads[0]), testing::IsEmpty());
  EXPECT_THAT(waits_of(program, loads[1]), testing::IsEmpty());
  EXPECT_THAT(waits_of(program, loads[2]), testing::ElementsAre("empty>=1"));
  EXPECT_THAT(waits_of(program, loads[3]), testing::ElementsAre("empty>=2"));
  const auto& copies = queue(program, Engine::kVector);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_THAT(waits_of(program, copies[i]),
                testing::ElementsAre("full>=" + std::to_string(i + 1)));
    EXPECT_EQ(signal_of(program, copies[i]), "empty");
    EXPECT_EQ(signal_of(program, loads[i]), "full");
  }
}

// An entry raises one semaphore of the Program, whatever it gives.
TEST(ProgramFile, WhatIsGivenTogetherIsOneSemaphore) {
  const Program program = parse(R"(
program: p
type: bf16
semaphores: {a: 0, b: 0}
queues:
  tensor:
    - {multiply_moving: 64, give: a}
    - {multiply_moving: 64, give: [a, b]}
    - {multiply_moving: 64, give: {a: 2}}
  vector:
    - {tensor_copy: 1, take: a}
    - {tensor_copy: 1, take: a}
    - {tensor_copy: 1, take: a}
  scalar:
    - {activate: 1, take: b}
)");
  const auto& tensor = queue(program, Engine::kTensor);
  EXPECT_EQ(signal_of(program, tensor[0]), "a");
  EXPECT_EQ(signal_of(program, tensor[1]), "a+b");
  EXPECT_EQ(signal_of(program, tensor[2]), "a");
  const auto& vector = queue(program, Engine::kVector);
  EXPECT_THAT(waits_of(program, vector[0]), testing::ElementsAre("a>=1"));
  EXPECT_THAT(waits_of(program, vector[1]), testing::ElementsAre("a+b>=1"));
  EXPECT_THAT(waits_of(program, vector[2]), testing::ElementsAre("a>=2"));
  EXPECT_THAT(waits_of(program, queue(program, Engine::kScalar)[0]),
              testing::ElementsAre("a+b>=1"));
}

TEST(ProgramFile, AGroupTakesBeforeItsFirstEntryAndGivesAfterItsLast) {
  const Program program = parse(R"(
program: p
type: bf16
semaphores: {bank: 1, sum: 0}
queues:
  tensor:
    - repeat: 2
      body:
        - repeat: 3
          take: bank
          give: sum
          body:
            - {multiply_moving: 64}
  vector:
    - {tensor_copy: 1, take: sum, give: bank}
    - {take: sum}
)");
  const auto& tensor = queue(program, Engine::kTensor);
  ASSERT_EQ(tensor.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(signal_of(program, tensor[i]), i % 3 == 2 ? "sum" : "") << i;
    EXPECT_EQ(waits_of(program, tensor[i]).size(), i == 3 ? 1U : 0U) << i;
  }
  EXPECT_EQ(queue(program, Engine::kVector)[1].opcode, Opcode::kSemaphoreOnly);
}

TEST(ProgramFile, AnchorsRepeatABody) {
  const Program program = parse(vector_program(R"(    - body: &step
        - {tensor_copy: 1}
        - {tensor_copy: 2}
    - {repeat: 2, body: *step}
)"));
  EXPECT_EQ(queue(program, Engine::kVector).size(), 6U);
}

struct Bad {
  const char* what;
  std::string text;
  std::string message;  // or a part of it
};

void PrintTo(const Bad& bad, std::ostream* out) { *out << bad.what; }

class BadProgram : public testing::TestWithParam<Bad> {};

TEST_P(BadProgram, IsRefusedWithItsPlace) {
  EXPECT_THAT(message_of(GetParam().text), HasSubstr(GetParam().message));
}

std::string semaphores(const std::string& declared, const std::string& tensor,
                       const std::string& vector) {
  return "program: p\ntype: bf16\nsemaphores: " + declared + "\nqueues:\n  tensor:\n" + tensor +
         "  vector:\n" + vector;
}

std::string transfer(const std::string& keys, const std::string& tensors = "{x: 1 KiB}") {
  return "program: p\nhbm: " + tensors + "\nrings:\n  in:\n    - {" + keys + "}\n";
}

INSTANTIATE_TEST_SUITE_P(
    File, BadProgram,
    testing::Values(
        Bad{"nothing", "", "x.yaml: the file is empty"},
        Bad{"no mapping", "- a\n", "x.yaml:1: expected a program file"},
        Bad{"no YAML", "program: [\n", "not valid YAML"},
        Bad{"no name", "queues: {vector: [{take: a}]}\n", "x.yaml:1: 'program' is missing"},
        Bad{"no work", "program: p\n", "x.yaml:1: the program has neither queues and rings"},
        Bad{"empty queue", "program: p\nqueues:\n  vector: []\n",
            "x.yaml:3: queues.vector: expected a list of statements"},
        Bad{"unknown section", "program: p\nqueue: {}\n",
            "x.yaml:2: queue: no such key; nearest is 'queues'"},
        Bad{"unknown engine", "program: p\ntype: bf16\nqueues:\n  vectr:\n    - {tensor_copy: 1}\n",
            "x.yaml:4: queues.vectr: no such key; nearest is 'vector'"},
        Bad{"parameter that is text",
            "program: p\nparameters:\n  n: many\nqueues: {vector: [{take: a}]}\n",
            "x.yaml:3: parameters.n: 'many' is not a whole number"},
        Bad{"negative semaphore",
            "program: p\nsemaphores:\n  s: -1\nqueues: {vector: [{take: s}]}\n",
            "x.yaml:3: semaphores.s: initially -1; 0 or more makes sense"}));

INSTANTIATE_TEST_SUITE_P(
    Statement, BadProgram,
    testing::Values(
        Bad{"unknown instruction", vector_program("    - {tensor_copi: 1}\n"),
            "x.yaml:5: queues.vector[0]: unknown instruction 'tensor_copi'; nearest is "
            "'tensor_copy'"},
        Bad{"unknown key", vector_program("    - {tensor_copy: 1, parttions: 3}\n"),
            "x.yaml:5: queues.vector[0].parttions: no such key; nearest is 'partitions'"},
        Bad{"key of another instruction", vector_program("    - {tensor_copy: 1, bank: 3}\n"),
            "queues.vector[0].bank: no such key"},
        Bad{"two instructions", vector_program("    - {tensor_copy: 1, tensor_reduce: 1}\n"),
            "'tensor_copy' and 'tensor_reduce' in one statement"},
        Bad{"text for a statement", vector_program("    - tensor_copy\n"),
            "x.yaml:5: queues.vector[0]: expected an instruction as '{key: value, ...}', here is "
            "a single value"},
        Bad{"no type", "program: p\nqueues:\n  vector:\n    - {tensor_copy: 1}\n",
            "x.yaml:4: queues.vector[0]: 'type' is missing"},
        Bad{"unknown type", vector_program("    - {tensor_copy: 1, type: bf61}\n"),
            "unknown value 'bf61'; nearest is 'bf16'"},
        Bad{"unknown memory", vector_program("    - {tensor_copy: 1, reads: hbm}\n"),
            "unknown memory 'hbm'"},
        Bad{"no size", vector_program("    - {tensor_copy: }\n"),
            "expected a single value, here is nothing"},
        Bad{"size 0", vector_program("    - {tensor_copy: 0}\n"),
            "queues.vector[0].tensor_copy: is 0; the least is 1"},
        Bad{"nothing at all", vector_program("    - {operator: a}\n"),
            "a statement without instruction has to take or give a semaphore"},
        Bad{"second problem",
            vector_program("    - {tensor_copi: 1}\n    - {tensor_copy: 1, rows: 3}\n"),
            "x.yaml:6: queues.vector[1].rows: no such key"},
        Bad{"index taken",
            vector_program("    - {repeat: 2, index: n, body: [{tensor_copy: n}]}\n",
                           "parameters: {n: 1}\n"),
            "'n' has a meaning already"},
        Bad{"repeat 0", vector_program("    - {repeat: 0, body: [{tensor_copy: 1}]}\n"),
            "x.yaml:5: repeat: 0 times is no loop; state 1 or more"},
        Bad{"repeat -1", vector_program("    - {repeat: -1, body: [{tensor_copy: 1}]}\n"),
            "x.yaml:5: repeat: -1 times is no loop"},
        Bad{"repeat 1e12", vector_program("    - {repeat: 1e12, body: [{tensor_copy: 1}]}\n"),
            "x.yaml:5: queues.vector[0].repeat: '1e12' is not a whole number"},
        Bad{"repeat 1000000000000",
            vector_program("    - {repeat: 1000000000000, body: [{tensor_copy: 1}]}\n"),
            "x.yaml:5: repeat: 1000000000000 times; a program has at most 10000000 instructions "
            "and transfers"},
        Bad{"loops that multiply",
            vector_program(
                "    - {repeat: 10000, body: [{repeat: 10000, body: [{tensor_copy: 1}]}]}\n"),
            "the program has more than 10000000 instructions and transfers"},
        Bad{"empty body", vector_program("    - {repeat: 2, body: []}\n"),
            "queues.vector[0].body: expected a list"},
        Bad{"remainder", vector_program("    - {repeat: 7 / 2, body: [{tensor_copy: 1}]}\n"),
            "leaves a remainder"}));

INSTANTIATE_TEST_SUITE_P(
    Limit, BadProgram,
    testing::Values(
        Bad{"partitions",
            "program: p\ntype: bf16\nqueues:\n  tensor:\n    - {load_stationary: 128}\n    - "
            "{multiply_moving: 512, partitions: 129}\n",
            "x.yaml:6: tensor[1] multiply_moving: partitions is 129, the limit is 128"},
        Bad{"columns", "program: p\ntype: bf16\nqueues:\n  tensor:\n    - {multiply_moving: 513}\n",
            "x.yaml:5: tensor[0] multiply_moving: columns of the moving operand is 513, the limit "
            "is 512"},
        Bad{"bank",
            "program: p\ntype: bf16\nqueues:\n  tensor:\n    - {repeat: 9, index: i, body: "
            "[{multiply_moving: 64, bank: i}]}\n",
            "x.yaml:5: tensor[8] multiply_moving: PSUM bank number + 1 is 9, the limit is 8"},
        Bad{"PSUM free size", vector_program("    - {tensor_copy: 4097, reads: psum}\n"),
            "x.yaml:5: vector[0] tensor_copy: elements per partition in PSUM is 4097, the limit is "
            "4096"},
        Bad{"wrong engine", vector_program("    - {activate: 1}\n"),
            "x.yaml:5: vector[0] activate: the vector engine does not run it"},
        Bad{"size below 1 in a loop",
            vector_program("    - {repeat: 3, index: i, body: [{tensor_copy: 2 - i}]}\n"),
            "x.yaml:5: vector[2] tensor_copy: size is 0; the least is 1"},
        Bad{"tile of the array",
            "program: p\ntype: bf16\nqueues:\n  tensor:\n    - {multiply_moving: 64, tile: {row: "
            "10, column: 0, rows: 32, columns: 64}}\n",
            "a tile of the array lies at multiples of 32"}));

INSTANTIATE_TEST_SUITE_P(
    Transfer, BadProgram,
    testing::Values(
        Bad{"outside the tensor", transfer("load: x, rows: 128, row_bytes: 9"),
            "x.yaml:5: dma in[0] load: 1152 bytes from offset 0 leave 'x', which has 1024 bytes"},
        Bad{"offset outside the tensor", transfer("store: x, rows: 1, row_bytes: 1, offset: 1024"),
            "dma in[0] store: 1 bytes from offset 1024 leave 'x'"},
        Bad{"unknown tensor", transfer("load: y, rows: 1, row_bytes: 1"),
            "unknown tensor under 'hbm' 'y'"},
        Bad{"no rows", transfer("load: x, row_bytes: 1"),
            "x.yaml:5: rings.in[0]: 'rows' is missing"},
        Bad{"no row bytes", transfer("load: x, rows: 1"), "'row_bytes' is missing"},
        Bad{"no direction", transfer("rows: 1, row_bytes: 1"),
            "unknown transfer 'rows'; there are: load, store, copy"},
        Bad{"instruction in a ring", transfer("tensor_copy: 1"), "unknown transfer 'tensor_copy'"},
        Bad{"copy with an address", transfer("copy: sbuf, rows: 1, row_bytes: 1, offset: 4"),
            "has no offset in HBM"},
        Bad{"tensor without bytes", transfer("load: x, rows: 1, row_bytes: 1", "{x: 0}"),
            "hbm.x: 0 bytes"}));

INSTANTIATE_TEST_SUITE_P(
    Semaphore, BadProgram,
    testing::Values(
        Bad{"unknown",
            semaphores("{full: 0}", "    - {multiply_moving: 64, give: ful}\n",
                       "    - {tensor_copy: 1, take: full}\n"),
            "x.yaml:6: queues.tensor[0].give: unknown semaphore 'ful'; nearest is 'full'"},
        Bad{"no entry gives it",
            semaphores("{full: 0}", "    - {multiply_moving: 64}\n",
                       "    - {tensor_copy: 1, take: full}\n"),
            "x.yaml:8: vector[0] tensor_copy: waits for ever (deadlock): it needs 1 of semaphore "
            "'full' in all, and "
            "no entry gives it (initially 0)"},
        Bad{"given too seldom",
            semaphores("{full: 1}", "    - {multiply_moving: 64, give: full}\n",
                       "    - {repeat: 3, body: [{tensor_copy: 1, take: full}]}\n"),
            "x.yaml:8: vector[2] tensor_copy: waits for ever (deadlock): it needs 3 of semaphore "
            "'full' in all, and "
            "tensor gives only 1 (and initially 1)"},
        Bad{"no entry takes it",
            semaphores("{full: 0}", "    - {multiply_moving: 64, give: full}\n",
                       "    - {tensor_copy: 1}\n"),
            "x.yaml:3: semaphores.full: no entry takes it; take it or remove it"},
        Bad{"two consumers",
            semaphores("{full: 5}", "    - {multiply_moving: 64, take: full}\n",
                       "    - {tensor_copy: 1, take: full}\n"),
            "x.yaml:8: vector[0] tensor_copy: takes semaphore 'full', which tensor takes too; give "
            "each consumer a "
            "semaphore of its own"},
        Bad{"two producers",
            semaphores("{full: 0}", "    - {multiply_moving: 64, give: full}\n",
                       "    - {tensor_copy: 1, give: full, take: full}\n"),
            "x.yaml:8: vector[0] tensor_copy: gives semaphore 'full', which tensor gives too"},
        Bad{"negative take",
            semaphores("{full: 0}", "    - {multiply_moving: 64, give: full}\n",
                       "    - {tensor_copy: 1, take: {full: -1}}\n"),
            "takes -1 of 'full'"}));

// The device's memory is known only when it is given.
TEST(ProgramFile, TransfersBeyondTheMemoryOfTheDeviceAreRefused) {
  const std::string text =
      transfer("load: x, rows: 1, row_bytes: 4, offset: 32 GiB", "{x: 33 GiB}");
  EXPECT_NO_THROW(parse(text));
  ProgramFileOptions options;
  options.limits.hbm_bytes = std::uint64_t{32} << 30U;
  EXPECT_THAT(
      message_of(text, options),
      HasSubstr(
          "x.yaml:5: dma in[0]: end address in HBM is 34359738372, the limit is 34359738368"));
  const std::string fits =
      transfer("load: x, rows: 1, row_bytes: 4, offset: 32 GiB - 4", "{x: 33 GiB}");
  EXPECT_NO_THROW(parse(fits, options));
}

TEST(ProgramFile, AMissingFileIsNamed) {
  try {
    load_program("no/such/program.yaml");
    FAIL() << "there is no such file";
  } catch (const UserError& error) {
    EXPECT_STREQ(error.what(), "no/such/program.yaml: no such file");
  }
}

}  // namespace
}  // namespace foretell
