// Programs of small graphs, counted instruction by instruction.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "model/base/errors.hpp"
#include "model/mapping/neuron/map_graph.hpp"
#include "model/program/program_builder.hpp"
#include "model/testing/graphs.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

Program map(const Graph& graph, const std::string& precision = "bf16-matmul",
            const LayerStandIns& stand_ins = {}) {
  const NeuronCoreSpec core = exemplar_inf2().device.core;
  SchedulingParameters scheduling;
  scheduling.prefetch_window = core.sbuf.capacity * 0.4;
  return map_to_neuron_core(graph, find_precision(precision), core_shape(core), scheduling,
                            stand_ins);
}

// On a core whose tensor engine takes FP8 beside BF16.
Program map_mixed(const Graph& graph, const std::string& precision) {
  NeuronCoreSpec core = exemplar_inf2().device.core;
  core.tensor.mixes_fp8 = 1;
  return map_to_neuron_core(graph, find_precision(precision), core_shape(core), {}, {});
}

std::vector<Instruction> of(const Program& program, Opcode opcode) {
  std::vector<Instruction> result;
  for (std::size_t e = 0; e < kEngineCount; ++e) {
    const std::vector<Instruction>& queue = program.engine(e);
    std::copy_if(queue.begin(), queue.end(), std::back_inserter(result),
                 [opcode](const Instruction& i) { return i.opcode == opcode; });
  }
  return result;
}

std::uint64_t bytes_of(const Program& program, Ring ring) {
  std::uint64_t bytes = 0;
  for (const Transfer& t : program.ring(static_cast<std::size_t>(ring))) {
    bytes += t.bytes();
  }
  return bytes;
}

// y [512, 1024] = x [512, 1024] w: 4 tiles of tokens, 8 blocks of K, 2 panels of 512 columns.
TEST(SmallLinear, TokensAreStationaryWhereTheyAreWantedOnThePartitions) {
  const Program program = map(linear_graph(512, 1024, 1024));
  const std::vector<Instruction> multiplies = of(program, Opcode::kMultiplyMoving);
  EXPECT_EQ(multiplies.size(), 4U * 8U * 2U);
  for (const Instruction& i : multiplies) {
    EXPECT_EQ(i.partitions, 128);
    EXPECT_EQ(i.aux, 128U);
    EXPECT_EQ(i.n, 512U);
    EXPECT_EQ(i.type, ElementType::kBf16);
  }
  EXPECT_EQ(of(program, Opcode::kLoadStationary).size(), multiplies.size());
}

TEST(SmallLinear, EveryBlockOfTheInputIsTransposedOnce) {
  const Program program = map(linear_graph(512, 1024, 1024));
  EXPECT_EQ(of(program, Opcode::kTranspose).size(), 4U * 8U);
}

TEST(SmallLinear, EveryGroupIsEvictedOnceAndFourTransposesTogether) {
  const Program program = map(linear_graph(512, 1024, 1024));
  const auto& vector = program.engine(Engine::kVector);
  EXPECT_EQ(vector.size(), 4U * 2U + 4U * 8U / 4U);
  for (const Instruction& i : vector) {
    EXPECT_NE(i.flags & kReadsPsum, 0);
    EXPECT_NE(i.flags & kWritesSbuf, 0);
    EXPECT_EQ(i.n, 512U);
  }
}

TEST(SmallLinear, MovesItsBytes) {
  const Program program = map(linear_graph(512, 1024, 768));
  EXPECT_EQ(bytes_of(program, Ring::kInputs), 512U * 1024U * 4U);   // FP32 at the host boundary
  EXPECT_EQ(bytes_of(program, Ring::kWeights), 1024U * 768U * 2U);  // BF16
  EXPECT_EQ(bytes_of(program, Ring::kOutputs), 512U * 768U * 4U);
  EXPECT_EQ(bytes_of(program, Ring::kSpill), 0U);
}

TEST(SmallLinear, WeightsAreStationaryWhereTheNextLayerWantsFeaturesOnThePartitions) {
  GraphWriter w;
  const TensorId x = w.input("x", {512, 1024});
  const Program program = map(w.finish(w.matmul("second", w.matmul("first", x, 1024), 1024)));
  int first = 0;
  for (const Instruction& i : of(program, Opcode::kMultiplyMoving)) {
    if (program.operators[static_cast<std::size_t>(i.op)] != "first") continue;
    ++first;
    EXPECT_EQ(i.n, 512U);  // tokens
  }
  EXPECT_EQ(first, 8 * 8);                                     // blocks of N and K
  EXPECT_EQ(of(program, Opcode::kTranspose).size(), 4U * 8U);  // of x alone
}

TEST(SmallLinear, PsumBanksAreUsedInTurn) {
  const Program program = map(linear_graph(512, 1024, 1024));
  std::vector<std::uint8_t> banks;
  for (const Instruction& i : of(program, Opcode::kMultiplyMoving)) {
    if ((i.flags & kStartsGroup) != 0) banks.push_back(i.psum_bank);
  }
  ASSERT_EQ(banks.size(), 8U);
  EXPECT_EQ(std::set<std::uint8_t>(banks.begin(), banks.end()).size(), 8U);
}

TEST(SmallLinear, AResidualIsAddedInEitherLayout) {
  for (const bool followed : {false, true}) {
    GraphWriter w;
    const TensorId x = w.input("x", {512, 256});
    TensorId y = w.op("residual", "Add", {w.matmul("mm", x, 256), x});
    if (followed) y = w.matmul("next", y, 256);  // wants features on the partitions
    const Program program = map(w.finish(y));
    EXPECT_EQ(std::count(program.operators.begin(), program.operators.end(), "residual"), 1)
        << followed;
  }
}

struct Types {
  const char* precision;
  ElementType matmul;
  std::uint64_t weight_bytes;
  bool converts;
};

class SmallTypes : public ::testing::TestWithParam<Types> {};

TEST_P(SmallTypes, ChooseOperandsAndBytes) {
  const Types& types = GetParam();
  const Program program = map(linear_graph(128, 512, 512, types.precision), types.precision);
  for (const Instruction& i : of(program, Opcode::kMultiplyMoving)) EXPECT_EQ(i.type, types.matmul);
  EXPECT_EQ(bytes_of(program, Ring::kWeights), 512U * 512U * types.weight_bytes);
  EXPECT_EQ(!of(program, Opcode::kTensorCopy).empty(), types.converts);
}

TEST(SmallLinear, WeightsInFp8AreConvertedUnlessTheEngineTakesThem) {
  const Graph graph = linear_graph(128, 512, 512, "fp8-weights");
  EXPECT_FALSE(of(map(graph, "fp8-weights"), Opcode::kTensorCopy).empty());
  const Program mixed = map_mixed(graph, "fp8-weights");
  EXPECT_TRUE(of(mixed, Opcode::kTensorCopy).empty());
  for (const Instruction& i : of(mixed, Opcode::kMultiplyMoving))
    EXPECT_EQ(i.type, ElementType::kBf16);
  EXPECT_EQ(bytes_of(mixed, Ring::kWeights), 512U * 512U);
  const Graph whole = linear_graph(128, 512, 512, "int8-weights");
  EXPECT_FALSE(of(map_mixed(whole, "int8-weights"), Opcode::kTensorCopy).empty());
}

INSTANTIATE_TEST_SUITE_P(Policies, SmallTypes,
                         ::testing::Values(Types{"fp32", ElementType::kFp32, 4, false},
                                           Types{"tf32", ElementType::kTf32, 4, false},
                                           Types{"bf16", ElementType::kBf16, 2, false},
                                           Types{"fp16", ElementType::kFp16, 2, false},
                                           Types{"bf16-matmul", ElementType::kBf16, 2, false},
                                           Types{"fp8", ElementType::kFp8, 1, false},
                                           Types{"int8-weights", ElementType::kBf16, 1, true},
                                           Types{"int8", ElementType::kBf16, 1, true},
                                           Types{"int8-datasheet", ElementType::kInt8, 1, false}),
                         [](const auto& types) {
                           std::string name = types.param.precision;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(SmallNorm, LayerNormOfTwoTilesIsSevenInstructionsPerTile) {
  GraphWriter w;
  const TensorId x = w.input("x", {256, 1024});
  const Program program = map(w.finish(w.norm("norm", x)));
  EXPECT_EQ(of(program, Opcode::kBnStats).size(), 2U * 2U);  // 512 elements at a time
  const std::vector<Instruction> combine = of(program, Opcode::kBnAggr);
  ASSERT_EQ(combine.size(), 2U);
  EXPECT_EQ(combine[0].n, 12U);  // six values of two chunks
  EXPECT_EQ(of(program, Opcode::kRsqrt).size(), 2U);
  EXPECT_EQ(of(program, Opcode::kTensorScalar).size(), 2U);       // (x - mean) * rstd
  EXPECT_EQ(of(program, Opcode::kTensorTensor).size(), 2U * 2U);  // gamma, beta
}

TEST(SmallGather, OneDescriptorPerToken) {
  GraphWriter w;
  const TensorId ids = w.graph().add_input("ids", {4, 100}, DType::kInt32);
  const TensorId table = w.weight("table", {30000, 768});
  const Program program = map(w.finish(w.op("word", "Gather", {table, ids})));
  std::uint64_t rows = 0;
  for (const Transfer& t : program.transfers()) {
    if (t.direction == TransferDirection::kLoad && t.descriptor_bytes == 768 * 4) {
      rows += t.descriptors;
    }
  }
  EXPECT_EQ(rows, 400U);
}

TEST(SmallGraph, SkippedLayersLeaveNothing) {
  GraphWriter w;
  TensorId x = w.input("x", {128, 256});
  for (std::int32_t layer = 0; layer < 3; ++layer) {
    const std::string name = "layer" + std::to_string(layer);
    const TensorId weight = w.weight(name + ".weight", {256, 256});
    x = w.graph().add_op(name, "MatMul", {x, weight}, {}, layer);
  }
  const Graph graph = w.finish(x);
  const Program all = map(graph);
  const Program two = map(graph, "bf16-matmul", {{1, 0}});
  EXPECT_EQ(std::count(all.operators.begin(), all.operators.end(), "layer1"), 1);
  EXPECT_EQ(std::count(two.operators.begin(), two.operators.end(), "layer1"), 0);
  EXPECT_EQ(bytes_of(two, Ring::kWeights) * 3, bytes_of(all, Ring::kWeights) * 2);
}

TEST(SmallGraph, AnOperatorWithoutMappingIsNamed) {
  GraphWriter w;
  const TensorId x = w.input("x", {128, 256});
  const Graph graph = w.finish(w.op("exchange", "SendReceive", {x}, {{"ranks", std::int64_t{2}}}));
  try {
    map(graph);
    FAIL();
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("operator 'exchange' (SendReceive) is not mapped"));
  }
}

}  // namespace
}  // namespace foretell
