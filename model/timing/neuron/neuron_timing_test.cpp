// The published cost table, row by row, with the cycles written out: below, at and above every
// threshold, and on both sides of every condition.
#include "model/timing/neuron/neuron_timing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "model/base/errors.hpp"
#include "model/testing/instructions.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

using ::testing::HasSubstr;

constexpr Engine kV = Engine::kVector;
constexpr Engine kS = Engine::kScalar;
constexpr Engine kG = Engine::kGpSimd;

const NeuronCoreSpec& core() {
  static const NeuronCoreSpec spec = exemplar_inf2().device.core;
  return spec;
}

const LaneEngineSpec& spec_of(Engine engine) {
  if (engine == kV) return core().vector;
  return engine == kS ? core().scalar : core().gpsimd;
}

Cycles cycles_of(Engine engine, const Instruction& i) {
  return lane_cycles(engine, spec_of(engine), core().sbuf.partitions, i);
}

// What varies along a row of the table. Two-operand instructions read SBUF unless stated otherwise.
struct LaneCase {
  Engine engine;
  Opcode opcode;
  std::uint32_t n;
  double cycles;
  unsigned flags = kReadsSbuf;
  ElementType in = ElementType::kFp32;
  ElementType out = ElementType::kFp32;
  std::uint32_t aux = 0;
};

std::string describe(const LaneCase& c) {
  return std::string(to_string(c.opcode)) + " on " + std::string(to_string(c.engine)) +
         ", n = " + std::to_string(c.n) + ", flags = " + std::to_string(c.flags) + ", " +
         std::string(to_string(c.in)) + " to " + std::string(to_string(c.out)) +
         ", aux = " + std::to_string(c.aux);
}

void PrintTo(const LaneCase& c, std::ostream* out) { *out << describe(c); }

class LaneCost : public ::testing::TestWithParam<std::vector<LaneCase>> {};

TEST_P(LaneCost, IsThePublishedOne) {
  for (const LaneCase& c : GetParam()) {
    Instruction i = lane(c.opcode, c.n, c.flags, c.in);
    i.out_type = c.out;
    i.aux = c.aux;
    EXPECT_DOUBLE_EQ(cycles_of(c.engine, i).value(), c.cycles) << describe(c);
  }
}

// max(64, N): one pass over the elements.
std::vector<LaneCase> one_pass(Engine engine, Opcode opcode) {
  return {{engine, opcode, 1, 64},
          {engine, opcode, 63, 64},
          {engine, opcode, 64, 64},
          {engine, opcode, 65, 65},
          {engine, opcode, 512, 512},
          // an innermost stride of 16 bytes or more halves the rate
          {engine, opcode, 32, 64, kReadsSbuf | kWideStride},
          {engine, opcode, 33, 66, kReadsSbuf | kWideStride},
          {engine, opcode, 512, 1024, kReadsSbuf | kWideStride}};
}

// The same, then the accumulator is read: + 64.
std::vector<LaneCase> one_pass_and_reduction(Engine engine, Opcode opcode) {
  return {{engine, opcode, 1, 128},
          {engine, opcode, 64, 128},
          {engine, opcode, 65, 129},
          {engine, opcode, 512, 576}};
}

// No minimum is published.
std::vector<LaneCase> elements(Engine engine, Opcode opcode) {
  return {{engine, opcode, 8, 8}, {engine, opcode, 64, 64}, {engine, opcode, 16384, 16384}};
}

std::vector<LaneCase> gpsimd_start(Opcode opcode) {
  return {{kG, opcode, 1, 151},
          {kG, opcode, 512, 662},
          {kG, opcode, 512, 1174, kReadsSbuf | kWideStride}};
}

// max(600, N)
std::vector<LaneCase> dynamic_copy(Engine engine) {
  constexpr Opcode kOp = Opcode::kTensorCopyDynamic;
  return {{engine, kOp, 1, 600}, {engine, kOp, 600, 600}, {engine, kOp, 601, 601}};
}

std::string first_name(const ::testing::TestParamInfo<std::vector<LaneCase>>& info) {
  const LaneCase& c = info.param.front();
  return std::string(to_string(c.opcode)) + "_on_" + std::string(to_string(c.engine));
}

INSTANTIATE_TEST_SUITE_P(
    OnePass, LaneCost,
    ::testing::Values(one_pass(kS, Opcode::kActivate), one_pass(kV, Opcode::kTensorScalar),
                      one_pass(kS, Opcode::kTensorScalar), one_pass(kV, Opcode::kTensorCopy),
                      one_pass(kS, Opcode::kTensorCopy), one_pass(kG, Opcode::kTensorCopy),
                      one_pass(kV, Opcode::kBnStats), one_pass(kV, Opcode::kRangeSelect),
                      one_pass(kV, Opcode::kStreamShuffle), one_pass(kV, Opcode::kDropout),
                      one_pass(kV, Opcode::kTranspose), one_pass(kV, Opcode::kMatchReplace8),
                      one_pass(kS, Opcode::kReciprocal), one_pass(kV, Opcode::kRsqrt),
                      one_pass(kS, Opcode::kRsqrt)),
    first_name);

INSTANTIATE_TEST_SUITE_P(WithReduction, LaneCost,
                         ::testing::Values(one_pass_and_reduction(kS, Opcode::kActivateReduce),
                                           one_pass_and_reduction(kV, Opcode::kTensorScalarReduce)),
                         first_name);

INSTANTIATE_TEST_SUITE_P(WithoutMinimum, LaneCost,
                         ::testing::Values(elements(kV, Opcode::kMax8),
                                           elements(kV, Opcode::kFindIndex8)),
                         first_name);

INSTANTIATE_TEST_SUITE_P(GpSimd, LaneCost,
                         ::testing::Values(gpsimd_start(Opcode::kAffineSelect),
                                           gpsimd_start(Opcode::kIota)),
                         first_name);

INSTANTIATE_TEST_SUITE_P(DynamicAddress, LaneCost,
                         ::testing::Values(dynamic_copy(kV), dynamic_copy(kS), dynamic_copy(kG)),
                         first_name);

constexpr ElementType kF32 = ElementType::kFp32;
constexpr ElementType kB16 = ElementType::kBf16;
constexpr ElementType kF16 = ElementType::kFp16;
constexpr unsigned kMixed = kReadsPsum | kReadsSbuf;
constexpr unsigned kAlu = kReadsSbuf | kAddMulSub;

INSTANTIATE_TEST_SUITE_P(
    Conditions, LaneCost,
    ::testing::Values(
        // N when one operand is in PSUM or everything is BF16 and simple; else 2N
        std::vector<LaneCase>{
            {kV, Opcode::kTensorTensor, 32, 64},
            {kV, Opcode::kTensorTensor, 33, 66},
            {kV, Opcode::kTensorTensor, 512, 1024},
            {kV, Opcode::kTensorTensor, 63, 64, kMixed},
            {kV, Opcode::kTensorTensor, 65, 65, kMixed},
            {kV, Opcode::kTensorTensor, 512, 512, kMixed},
            {kV, Opcode::kTensorTensor, 512, 1024, kMixed | kWideStride},
            {kV, Opcode::kTensorTensor, 512, 1024, kReadsPsum},
            {kV, Opcode::kTensorTensor, 64, 64, kAlu, kB16, kB16},
            {kV, Opcode::kTensorTensor, 65, 65, kAlu, kB16, kB16},
            {kV, Opcode::kTensorTensor, 512, 1024, kAlu, kF32, kF32},
            {kV, Opcode::kTensorTensor, 512, 1024, kAlu, kF16, kF16},
            {kV, Opcode::kTensorTensor, 512, 1024, kAlu, kB16, kF32},
            {kV, Opcode::kTensorTensor, 512, 1024, kAlu, kF32, kB16},
            {kV, Opcode::kTensorTensor, 512, 1024, kReadsSbuf, kB16, kB16},
            {kV, Opcode::kTensorTensor, 512, 2048, kAlu | kWideStride, kB16, kB16}},
        // N only for BF16 inputs, subtract and multiply, N even; else 2N; no minimum
        std::vector<LaneCase>{{kV, Opcode::kScalarTensorTensor, 2, 2, kAlu, kB16, kB16},
                              {kV, Opcode::kScalarTensorTensor, 512, 512, kAlu, kB16, kB16},
                              {kV, Opcode::kScalarTensorTensor, 512, 512, kAlu, kB16, kF32},
                              {kV, Opcode::kScalarTensorTensor, 511, 1022, kAlu, kB16, kB16},
                              {kV, Opcode::kScalarTensorTensor, 512, 1024, kAlu, kF32, kF32},
                              {kV, Opcode::kScalarTensorTensor, 512, 1024, kReadsSbuf, kB16, kB16},
                              {kV, Opcode::kScalarTensorTensor, 8, 16, kAlu, kF32, kF32}},
        // N/2 for BF16 to BF16 add or max; else N; no minimum
        std::vector<LaneCase>{
            {kV, Opcode::kTensorReduce, 512, 256, kReadsSbuf | kAddOrMax, kB16, kB16},
            {kV, Opcode::kTensorReduce, 511, 255.5, kReadsSbuf | kAddOrMax, kB16, kB16},
            {kV, Opcode::kTensorReduce, 512, 512, kReadsSbuf | kAddOrMax, kB16, kF32},
            {kV, Opcode::kTensorReduce, 512, 512, kReadsSbuf | kAddOrMax, kF32, kB16},
            {kV, Opcode::kTensorReduce, 512, 512, kReadsSbuf, kB16, kB16},
            {kV, Opcode::kTensorReduce, 8, 8, kReadsSbuf | kAddOrMax, kF32, kF32}},
        std::vector<LaneCase>{{kV, Opcode::kTensorTensorScan, 31, 64},
                              {kV, Opcode::kTensorTensorScan, 32, 64},
                              {kV, Opcode::kTensorTensorScan, 33, 66},
                              {kV, Opcode::kTensorTensorScan, 512, 1024},
                              {kV, Opcode::kTensorTensorScan, 512, 1024, kMixed}},
        // the published text has the minimum on both lines
        std::vector<LaneCase>{{kV, Opcode::kTensorCopyPredicated, 31, 64},
                              {kV, Opcode::kTensorCopyPredicated, 33, 66},
                              {kV, Opcode::kTensorCopyPredicated, 512, 1024},
                              {kV, Opcode::kTensorCopyPredicated, 63, 64, kMixed},
                              {kV, Opcode::kTensorCopyPredicated, 65, 65, kMixed},
                              {kV, Opcode::kTensorCopyPredicated, 512, 512, kMixed}},
        // 13 N / 3
        std::vector<LaneCase>{{kV, Opcode::kBnAggr, 12, 64},
                              {kV, Opcode::kBnAggr, 15, 65},
                              {kV, Opcode::kBnAggr, 48, 208}},
        // 8 N on Vector
        std::vector<LaneCase>{{kV, Opcode::kReciprocal, 7, 64},
                              {kV, Opcode::kReciprocal, 8, 64},
                              {kV, Opcode::kReciprocal, 9, 72},
                              {kV, Opcode::kReciprocal, 512, 4096}},
        // 4 times slower on GpSimd
        std::vector<LaneCase>{{kG, Opcode::kRsqrt, 16, 64},
                              {kG, Opcode::kRsqrt, 17, 68},
                              {kG, Opcode::kRsqrt, 512, 2048}},
        // N/2 for zeros of 16 bits
        std::vector<LaneCase>{{kV, Opcode::kMemset, 512, 256, kWritesSbuf | kZeroFill, kB16, kB16},
                              {kV, Opcode::kMemset, 512, 256, kWritesSbuf | kZeroFill, kF16, kF16},
                              {kV, Opcode::kMemset, 128, 64, kWritesSbuf | kZeroFill, kB16, kB16},
                              {kV, Opcode::kMemset, 130, 65, kWritesSbuf | kZeroFill, kB16, kB16},
                              {kV, Opcode::kMemset, 512, 512, kWritesSbuf | kZeroFill, kF32, kF32},
                              {kV, Opcode::kMemset, 512, 512, kWritesSbuf, kB16, kB16},
                              {kV, Opcode::kMemset, 65, 65, kWritesSbuf, kF32, kF32},
                              {kV, Opcode::kMemset, 63, 64, kWritesSbuf, kF32, kF32}},
        // 150 + n e / C, C = ((28 + 4e) / 4e) / min(4 / bytes, e)
        std::vector<LaneCase>{
            {kG, Opcode::kLocalGather, 64, 158, kReadsSbuf, kF32, kF32, 1},  // C = 8
            {kG, Opcode::kLocalGather, 64, 158, kReadsSbuf, kB16, kB16, 1},  // min(2, 1) = 1
            {kG, Opcode::kLocalGather, 90, 190, kReadsSbuf, kF32, kF32, 2},  // C = 4.5
            {kG, Opcode::kLocalGather, 90, 230, kReadsSbuf, kB16, kB16, 2},  // C = 2.25
            {kG, Opcode::kLocalGather, 390, 150 + 390 * 32 / (156.0 / 128), kReadsSbuf, kF32, kF32,
             32}},
        // 4 n + K
        std::vector<LaneCase>{{kG, Opcode::kTopK, 100, 408, kReadsSbuf, kF32, kF32, 8},
                              {kG, Opcode::kTopK, 100, 464, kReadsSbuf, kF32, kF32, 64}},
        std::vector<LaneCase>{{kV, Opcode::kSemaphoreOnly, 0, 0, 0}}),
    first_name);

// --- Tensor engine -----------------------------------------------------------------------------

double column_cycles(ElementType type) {
  return core().tensor.cycles_per_column.at(std::string(to_string(type)));
}

double tensor(const Instruction& i) {
  return tensor_cycles(core().tensor, i, column_cycles(i.type)).value();
}

TEST(TensorCost, MultiplyMovingTakesOneCyclePerColumnButAtLeastTheStationaryUpTo64) {
  for (const ElementType type :
       {ElementType::kBf16, ElementType::kFp16, ElementType::kTf32, ElementType::kFp8}) {
    EXPECT_DOUBLE_EQ(tensor(multiply_moving(512, 128, type)), 512) << to_string(type);
    EXPECT_DOUBLE_EQ(tensor(multiply_moving(65, 128, type)), 65) << to_string(type);
    EXPECT_DOUBLE_EQ(tensor(multiply_moving(64, 128, type)), 64) << to_string(type);
    EXPECT_DOUBLE_EQ(tensor(multiply_moving(63, 128, type)), 64) << to_string(type);
    EXPECT_DOUBLE_EQ(tensor(multiply_moving(1, 128, type)), 64) << to_string(type);
    EXPECT_DOUBLE_EQ(tensor(multiply_moving(1, 64, type)), 64) << to_string(type);
    EXPECT_DOUBLE_EQ(tensor(multiply_moving(1, 63, type)), 63) << to_string(type);
    EXPECT_DOUBLE_EQ(tensor(multiply_moving(33, 32, type)), 33) << to_string(type);
    EXPECT_DOUBLE_EQ(tensor(multiply_moving(31, 32, type)), 32) << to_string(type);
    EXPECT_DOUBLE_EQ(tensor(multiply_moving(1, 1, type)), 1) << to_string(type);
  }
}

TEST(TensorCost, Fp32TakesFourPassesAndTwoWhenTheStationaryHoldsOnesAndZeros) {
  EXPECT_DOUBLE_EQ(tensor(multiply_moving(512, 128, kF32)), 2048);
  EXPECT_DOUBLE_EQ(tensor(multiply_moving(1, 128, kF32)), 256);
  EXPECT_DOUBLE_EQ(tensor(multiply_moving(1, 32, kF32)), 128);
  EXPECT_DOUBLE_EQ(tensor(multiply_moving(512, 128, kF32, kOneZeroStationary)), 1024);
  EXPECT_DOUBLE_EQ(tensor(multiply_moving(1, 128, kF32, kOneZeroStationary)), 128);
  EXPECT_DOUBLE_EQ(tensor(multiply_moving(512, 128, kB16, kOneZeroStationary)), 512);
}

TEST(TensorCost, NoStationaryWidthMeansTheWholeArray) {
  EXPECT_DOUBLE_EQ(tensor(multiply_moving(1, 0)), 64);
}

TEST(TensorCost, LoadStationaryTakesAQuarterOfAMultiplyOfTheSameWidth) {
  EXPECT_DOUBLE_EQ(tensor(load_stationary(128)), 32);
  EXPECT_DOUBLE_EQ(tensor(load_stationary(64)), 16);
  EXPECT_DOUBLE_EQ(tensor(load_stationary(128, kF32)), 128);
}

TEST(TensorCost, TransposeTakesItsPartitionsButAtLeastItsColumnsUpTo64) {
  EXPECT_DOUBLE_EQ(tensor(transpose(128, 128)), 128);
  EXPECT_DOUBLE_EQ(tensor(transpose(65, 128)), 65);
  EXPECT_DOUBLE_EQ(tensor(transpose(64, 128)), 64);
  EXPECT_DOUBLE_EQ(tensor(transpose(32, 128)), 64);
  EXPECT_DOUBLE_EQ(tensor(transpose(32, 63)), 63);
  EXPECT_DOUBLE_EQ(tensor(transpose(32, 31)), 32);
}

TEST(TensorCost, PartitionsOfAMatmulCostNothing) {
  Instruction half = multiply_moving(512);
  half.partitions = 64;
  EXPECT_DOUBLE_EQ(tensor(half), 512);
}

TEST(Lanes, ElementsPerCycleAreTheLanes) {
  const auto cycles = [](int lanes, std::uint16_t partitions) {
    LaneEngineSpec spec = core().vector;
    spec.lanes = lanes;
    Instruction i = lane(Opcode::kTensorCopy, 8192);
    i.partitions = partitions;
    return lane_cycles(kV, spec, 128, i).value();
  };
  for (const int lanes : {1, 32, 64, 128, 256, 1024}) {
    EXPECT_DOUBLE_EQ(cycles(lanes, 128), 8192 * 128.0 / lanes) << lanes;
  }
  EXPECT_DOUBLE_EQ(cycles(64, 64), 8192);   // each has its lane
  EXPECT_DOUBLE_EQ(cycles(128, 64), 8192);  // as the table says
  EXPECT_DOUBLE_EQ(cycles(1 << 20, 128), 64) << "the smallest instruction";
}

// A3:224-239.
TEST(Lanes, ElementsOfSixteenBitsInSbufMayBeFaster) {
  LaneEngineSpec fast = core().vector;
  fast.copy_speedup = 4;
  fast.strided_copy_speedup = 2;
  fast.pair_speedup = 2;
  const auto faster = [&fast](Opcode opcode, unsigned flags, ElementType in, ElementType out) {
    Instruction i = lane(opcode, 8192, flags, in);
    i.out_type = out;
    return cycles_of(kV, i).value() / lane_cycles(kV, fast, core().sbuf.partitions, i).value();
  };
  constexpr unsigned kOnChip = kReadsSbuf | kWritesSbuf;
  constexpr ElementType kB = ElementType::kBf16;
  constexpr ElementType kF = ElementType::kFp32;
  EXPECT_DOUBLE_EQ(faster(Opcode::kTensorCopy, kOnChip, kB, kB), 4);
  EXPECT_DOUBLE_EQ(faster(Opcode::kTensorScalar, kOnChip, kB, ElementType::kFp16), 4);
  EXPECT_DOUBLE_EQ(faster(Opcode::kTensorScalar, kOnChip | kWideStride, kB, kB), 2);
  EXPECT_DOUBLE_EQ(faster(Opcode::kTensorTensor, kOnChip | kAddMulSub, kB, kB), 2);
  EXPECT_DOUBLE_EQ(faster(Opcode::kTensorCopy, kOnChip, kB, kF), 1);
  EXPECT_DOUBLE_EQ(faster(Opcode::kTensorCopy, kOnChip, kF, kF), 1);
  EXPECT_DOUBLE_EQ(faster(Opcode::kTensorTensor, kReadsPsum | kWritesSbuf, kB, kB), 1);
  EXPECT_DOUBLE_EQ(faster(Opcode::kTensorCopy, kReadsPsum | kWritesSbuf, kB, kB), 1)
      << "results of products are FP32 in PSUM";
  EXPECT_DOUBLE_EQ(faster(Opcode::kTensorReduce, kOnChip, kB, kB), 1);
}

// --- Engines -----------------------------------------------------------------------------------

std::string refusal(Engine engine, Opcode opcode) {
  try {
    if (engine == Engine::kTensor) {
      tensor_cycles(core().tensor, lane(opcode, 64), 1);
    } else {
      cycles_of(engine, lane(opcode, 64));
    }
  } catch (const UserError& error) {
    return error.what();
  }
  return "";
}

TEST(EngineOfOpcode, EveryPairIsEitherTimedOrRefusedByName) {
  int timed = 0;
  for (const Engine engine : {Engine::kTensor, kV, kS, kG}) {
    for (int o = 0; o < kOpcodeCount; ++o) {
      const auto opcode = static_cast<Opcode>(o);
      const std::string text = refusal(engine, opcode);
      EXPECT_EQ(text.empty(), runs_on(opcode, engine))
          << to_string(opcode) << " on " << to_string(engine) << ": " << text;
      if (text.empty()) {
        ++timed;
      } else {
        EXPECT_THAT(text, HasSubstr("put it in the " + engines_of(opcode) + " queue"));
      }
    }
  }
  // 3 PE, 13 of Vector alone, 2 of Scalar alone, 4 of GpSimd alone, Vector with others:
  // transpose, tensor_tensor, memset, reciprocal (2 engines) and 4 on all three; 4 times none.
  EXPECT_EQ(timed, 3 + 13 + 2 + 4 + 1 + 2 + 2 + 2 + 4 * 3 + 4);
}

TEST(EngineOfOpcode, RefusalSaysWhereItBelongs) {
  EXPECT_EQ(refusal(kV, Opcode::kActivate),
            "activate does not run on the vector engine; put it in the scalar queue");
  EXPECT_EQ(
      refusal(kS, Opcode::kTensorTensor),
      "tensor_tensor does not run on the scalar engine; put it in the vector or gpsimd queue");
  EXPECT_EQ(refusal(kG, Opcode::kMultiplyMoving),
            "multiply_moving does not run on the gpsimd engine; put it in the tensor queue");
}

// --- Overheads and ports -----------------------------------------------------------------------

TEST(AccessOverhead, IsSixtyCyclesOrAHundredAfterTheProducer) {
  const LaneEngineSpec& spec = core().vector;
  EXPECT_DOUBLE_EQ(access_overhead(spec, lane(Opcode::kTensorCopy, 64)).value(), 60);
  EXPECT_DOUBLE_EQ(access_overhead(spec, lane(Opcode::kTensorCopy, 64, kDependsOnPrevious)).value(),
                   100);
  EXPECT_DOUBLE_EQ(access_overhead(spec, lane(Opcode::kSemaphoreOnly, 0)).value(), 0);
}

TEST(Ports, FollowTheFlags) {
  EXPECT_TRUE(uses_psum(lane(Opcode::kTensorCopy, 1, kReadsPsum)));
  EXPECT_TRUE(uses_psum(lane(Opcode::kTensorCopy, 1, kWritesPsum)));
  EXPECT_FALSE(uses_psum(lane(Opcode::kTensorCopy, 1, kReadsSbuf | kWritesSbuf)));
  EXPECT_TRUE(uses_sbuf(lane(Opcode::kTensorCopy, 1, kReadsSbuf)));
  EXPECT_TRUE(uses_sbuf(lane(Opcode::kTensorCopy, 1, kWritesSbuf)));
  EXPECT_FALSE(uses_sbuf(lane(Opcode::kTensorCopy, 1, kReadsPsum | kWritesPsum)));
}

// --- DMA ---------------------------------------------------------------------------------------

double descriptor_ns(double bytes, double fraction = 1) {
  return descriptor_time(core().dma, Bytes(bytes), fraction).value() * 1e9;
}

TEST(DescriptorTime, IsTheFloorUpToTheKneeAndLinearAboveIt) {
  // 8 ns + bytes / 17 GB/s reaches 146 ns at 2346 bytes.
  EXPECT_DOUBLE_EQ(descriptor_ns(1), 146);
  EXPECT_DOUBLE_EQ(descriptor_ns(512), 146);
  EXPECT_DOUBLE_EQ(descriptor_ns(2346), 146);
  EXPECT_NEAR(descriptor_ns(2363), 147, 1e-9);
  EXPECT_NEAR(descriptor_ns(4096), 8 + 4096 / 17.0, 1e-9);
  EXPECT_NEAR(descriptor_ns(65536), 8 + 65536 / 17.0, 1e-9);
}

TEST(DescriptorTime, CastsAndTransposesPassMoreBytes) {
  Transfer transfer;
  transfer.descriptors = 1;
  transfer.descriptor_bytes = 4096;
  EXPECT_EQ(engine_bytes(core().dma, transfer).value(), 4096);
  transfer.flags = kCasts;
  EXPECT_EQ(engine_bytes(core().dma, transfer).value(), 8192);
  transfer.flags = kCasts | kTransposes;
  EXPECT_EQ(engine_bytes(core().dma, transfer).value(), 8192 * core().dma.transpose_passes);
}

TEST(DescriptorTime, FractionScalesTheRateAndNotTheFloor) {
  EXPECT_DOUBLE_EQ(descriptor_ns(512, 0.5), 146);
  EXPECT_NEAR(descriptor_ns(4096, 0.5), 8 + 4096 / 8.5, 1e-9);
}

TEST(DescriptorTime, MatchesThePublishedPlotOfBandwidthAgainstSize) {
  // Share of the plateau, digitised: 512 B 20.6 %, 1 KiB 42.2 %, 2 KiB 81.3 %, 4 KiB 96.6 %.
  const auto share = [](double bytes) { return bytes / descriptor_ns(bytes) / 17; };
  EXPECT_NEAR(share(512), 0.206, 0.005);
  EXPECT_NEAR(share(1024), 0.422, 0.012);
  EXPECT_NEAR(share(2048), 0.813, 0.015);
  EXPECT_NEAR(share(4096), 0.966, 0.005);
  EXPECT_LT(share(1 << 20), 1);
}

}  // namespace
}  // namespace foretell
