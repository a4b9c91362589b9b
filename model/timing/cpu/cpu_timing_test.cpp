#include "model/timing/cpu/cpu_timing.hpp"

#include <gmock/gmock.h>

#include "hw/spec/cpu/cpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/timing/cpu/cpu_operator.hpp"

namespace foretell {
namespace {

using namespace literals;

const CpuSystemSpec& machine() {
  static const CpuSystemSpec kSpec = CpuCatalog().load("c7a.4xlarge").spec;
  return kSpec;
}

CpuTiming timing_of(int threads, const CpuFactors& factors = ideal_cpu_factors()) {
  return CpuTiming(machine(), factors, threads);
}

Seconds time_of(const CpuOperator& op, int threads,
                const CpuFactors& factors = ideal_cpu_factors()) {
  return operator_time(timing_of(threads, factors), op);
}

CpuOperator gemm(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& dtype) {
  return {"gemm", dtype, {{"m", m}, {"n", n}, {"k", k}}};
}

TEST(CpuTiming, AProductOfWholePanelsTakesThePeak) {
  CpuFactors factors = ideal_cpu_factors();
  factors.tile = Cycles(0);
  for (const char* dtype : {"fp32", "bf16", "int8"}) {
    const Seconds peak = Flops(2.0 * 64 * 64 * 64) / core_rate(machine().device, dtype);
    EXPECT_NEAR(time_of(gemm(64, 64, 64, dtype), 1, factors) / peak, 1, 1e-6) << dtype;
  }
}

TEST(CpuTiming, ColumnsArePaddedToRegistersAndDepthToPacks) {
  EXPECT_EQ(time_of(gemm(64, 49, 64, "fp32"), 1), time_of(gemm(64, 64, 64, "fp32"), 1));
  EXPECT_LT(time_of(gemm(64, 48, 64, "fp32"), 1), time_of(gemm(64, 49, 64, "fp32"), 1));
  EXPECT_EQ(time_of(gemm(64, 64, 61, "int8"), 1), time_of(gemm(64, 64, 64, "int8"), 1));
}

TEST(CpuTiming, WeightsAreLaidOutInEveryCallWhereTheSoftwareSaysSo) {
  CpuTraffic weights;
  weights.dram = Bytes(100e6);
  EXPECT_TRUE(timing_of(8).weight_layouts(weights, 9).empty());
  const CpuSystemSpec plain = CpuCatalog().load("c7a.4xlarge", {"system.weight_layouts=1"}).spec;
  const CpuTiming timing(plain, ideal_cpu_factors(), 8);
  EXPECT_TRUE(timing.weight_layouts({}, 9).empty());
  const std::vector<Loop> layouts = timing.weight_layouts(weights, 9);
  ASSERT_EQ(layouts.size(), 1U);
  EXPECT_NEAR(dram_of(layouts.front()) / Bytes(300e6), 1, 1e-9);
  EXPECT_GE(loop_time(layouts.front()).value(), 300e6 / dram_bandwidth(plain).value() * 0.999);
}

// A window of one pixel has one order. What was written last is found in the cache where it fits.
TEST(CpuTiming, WindowsOfSeveralPixelsAreLaidOutTwice) {
  const std::vector<std::string> both = {"system.weight_layouts=1", "system.window_layouts=1"};
  const CpuTiming timing(CpuCatalog().load("c7a.4xlarge", both).spec, ideal_cpu_factors(), 8);
  const auto second = [&](double bytes) {
    CpuTraffic weights;
    weights.dram = Bytes(bytes);
    EXPECT_EQ(timing.weight_layouts(weights, 1).size(), 1U);
    const std::vector<Loop> layouts = timing.weight_layouts(weights, 9);
    EXPECT_EQ(layouts.size(), 2U);
    return dram_of(layouts.back()) / Bytes(bytes);
  };
  EXPECT_NEAR(second(100e3), 2, 0.05);
  EXPECT_NEAR(second(10e9), 3, 0.05);
}

TEST(CpuTiming, PagesOfLargeBuffersAreClearedInEveryCall) {
  const std::vector<std::string> fresh = {"system.fresh_buffers=32 MiB", "system.page=4 KiB",
                                          "system.page_fault=500 ns"};
  const CpuSystemSpec spec = CpuCatalog().load("c7a.4xlarge", fresh).spec;
  const CpuTiming timing(spec, ideal_cpu_factors(), 8);
  EXPECT_FALSE(timing_of(8).fresh_pages(1_GiB));
  EXPECT_FALSE(timing.fresh_pages(31_MiB));
  const std::optional<Loop> faults = timing.fresh_pages(1_GiB);
  ASSERT_TRUE(faults);
  EXPECT_NEAR(dram_of(*faults) / Bytes(1_GiB), 1, 1e-9);
  EXPECT_GE(loop_time(*faults).value(), 262144 * 500e-9 / 8 * 0.999);
  const CpuSystemSpec half = CpuCatalog().load("c7a.4xlarge", {"system.fresh_buffers=32 MiB"}).spec;
  EXPECT_THROW(CpuTiming(half, ideal_cpu_factors(), 8).fresh_pages(1_GiB), UserError);
}

TEST(CpuTiming, CallsAreColdAsFarAsTheirDataExceedTheThirdCache) {
  CpuFactors factors = ideal_cpu_factors();
  factors.cold_call = Seconds(40e-6);
  const CpuTiming timing(CpuCatalog().load("c7a.4xlarge").spec, factors, 8);
  EXPECT_LT(timing.cold_call(timing.l2_capacity() * 0.1).value(), 0.1e-6);
  EXPECT_GT(timing.cold_call(timing.l3_capacity() * 20).value(), 35e-6);
  EXPECT_LE(timing.cold_call(timing.l3_capacity() * 20).value(), 40e-6);
}

// One thread has the memory bandwidth of one core, whatever the others could do.
TEST(CpuTiming, AProductOfOneRowWithPlainWeightsIsOfOneThread) {
  CpuFactors factors = ideal_cpu_factors();
  factors.core_dram = 3;
  const CpuTiming timing(CpuCatalog().load("c7a.4xlarge").spec, factors, 8);
  CpuProduct product;
  product.n = product.k = 4096;
  product.dtype = "fp32";
  product.weights.dram = Bytes(4.0 * 4096 * 4096);
  const Loop alone = timing.vector_product(product);
  EXPECT_EQ(alone.threads, 1);
  EXPECT_GE(loop_time(alone).value(), (product.weights.dram / alone.core_dram).value());
  EXPECT_LT(loop_time(timing.product(product)).value(), 0.5 * loop_time(alone).value());
}

// A matrix unit takes whole tiles: 32 values of BF16 along the summed dimension.
TEST(CpuTiming, TilesOfAMatrixUnitAreWhole) {
  const CpuSystemSpec amx = CpuCatalog().load("c7i.2xlarge").spec;
  CpuFactors factors = ideal_cpu_factors();
  factors.pack = 0;
  const auto time = [&](std::int64_t k, const char* dtype) {
    return operator_time(CpuTiming(amx, factors, 1), gemm(64, 64, k, dtype));
  };
  EXPECT_EQ(time(33, "bf16"), time(64, "bf16"));
  EXPECT_EQ(time(65, "int8"), time(128, "int8"));
  EXPECT_LT(time(33, "fp32"), time(64, "fp32"));
  const Seconds peak = Flops(2.0 * 64 * 64 * 64) / core_rate(amx.device, "bf16");
  EXPECT_NEAR(time(64, "bf16") / peak, 1, 1e-6);
  factors.tile_store = 4;  // 64 rows of 4 registers
  EXPECT_NEAR((time(64, "bf16") - peak) / (Cycles(1024) / amx.device.clock.all_core), 1, 1e-6);
}

// Rows of an odd depth are laid out anew for the tiles.
TEST(CpuTiming, RowsThatEndWithinATileArePacked) {
  const CpuSystemSpec amx = CpuCatalog().load("c7i.2xlarge").spec;
  CpuFactors factors = ideal_cpu_factors();
  const auto time = [&](std::int64_t k) {
    return operator_time(CpuTiming(amx, factors, 1), gemm(64, 64, k, "bf16"));
  };
  factors.pack = 3;
  EXPECT_GT(time(63), time(64));
}

// Weights beyond the second cache come again for every block of rows.
// Blocks of rows need the weights again. Few of them read all; for many the weights are cut into
// groups of columns that stay, and the rows come again for each.
TEST(CpuTiming, WeightsThatDoNotStayAreReadAgainOrCutIntoGroups) {
  const auto from_memory = [](std::int64_t m) {
    const Loop loop = loops_of(timing_of(1), gemm(m, 16384, 4096, "fp32")).front();
    Bytes bytes;
    for (const CpuChunkRun& run : loop.chunks) {
      bytes += static_cast<double>(run.count) * run.dram;
    }
    return bytes;
  };
  const Bytes weights(4.0 * 16384 * 4096);  // more than all caches
  EXPECT_GT(from_memory(64), 0.9 * weights);
  EXPECT_GE(from_memory(128), from_memory(64));
  EXPECT_LT(from_memory(4096), 16 * weights);  // of 64 blocks
  EXPECT_GT(from_memory(8192), 1.5 * from_memory(4096));
}

TEST(CpuTiming, ColumnsThatMakeNoEvenPanelsLeaveAThreadWaiting) {
  CpuFactors factors = ideal_cpu_factors();
  const double speedup = time_of(gemm(37, 77, 1000, "fp32"), 1, factors) /
                         time_of(gemm(37, 77, 1000, "fp32"), 2, factors);
  EXPECT_NEAR(speedup, 80.0 / 64, 0.1);  // one thread has 64 columns, the other 16
}

TEST(CpuTiming, NothingIsFasterThanItsBytes) {
  for (const std::int64_t m : {1, 4, 64}) {
    for (const int threads : {1, 4, 16}) {
      const Bytes bytes(4.0 * 4096 * 4096);
      EXPECT_GE(time_of({"gemm", "fp32", {{"m", m}, {"n", 4096}, {"k", 4096}}, true}, threads),
                bytes / dram_bandwidth(machine()));
    }
  }
}

TEST(CpuTiming, ColdIsNeverFasterThanWarm) {
  CpuOperator op = gemm(16, 1024, 1024, "bf16");
  const Seconds warm = time_of(op, 2);
  op.cold = true;
  EXPECT_GE(time_of(op, 2), warm);
  op = gemm(1, 1024, 1024, "bf16");
  op.cold = false;
  const Seconds narrow = time_of(op, 16);
  op.cold = true;
  EXPECT_GT(time_of(op, 16), narrow);
}

TEST(CpuTiming, MoreOfAnythingIsNeverFaster) {
  for (const char* op : {"softmax", "layer_norm", "reduce", "add", "gelu", "copy", "convert"}) {
    Seconds before;
    for (const std::int64_t rows : {1, 16, 100, 4000, 100000}) {
      const Seconds time = time_of({op, "bf16", {{"rows", rows}, {"cols", 512}}}, 4);
      EXPECT_GT(time, before) << op << " " << rows;
      before = time;
    }
  }
}

TEST(CpuTiming, BytesAreFoundSomewhereAndOnlyThere) {
  const CpuTiming timing = timing_of(2);
  const Bytes bytes(1e6);
  for (const double footprint : {1e4, 1e6, 3e6, 1e7, 4e7, 1e9}) {
    const CpuTraffic traffic = timing.found(bytes, Bytes(footprint));
    EXPECT_NEAR(traffic.all() / bytes, 1, 1e-12) << footprint;
  }
  EXPECT_EQ(timing.found(bytes, Bytes(1e4)).l1, bytes);
  EXPECT_EQ(timing.found(bytes, Bytes(1e12)).dram, bytes);
}

TEST(CpuTiming, ConvolutionsCountTheirTaps) {
  const auto conv = [](std::int64_t kernel, std::int64_t padding) {
    return CpuOperator{"conv",
                       "fp32",
                       {{"b", 1},
                        {"channels", 64},
                        {"height", 28},
                        {"width", 28},
                        {"filters", 64},
                        {"kernel", kernel},
                        {"stride", 1},
                        {"padding", padding}}};
  };
  EXPECT_NEAR(time_of(conv(3, 1), 1) / time_of(conv(1, 0), 1), 9, 0.5);
}

TEST(CpuTiming, BlocksAreTheSumOfTheirPrimitives) {
  const CpuOperator layer{"bert_layer", "fp32", {{"b", 1}, {"seq", 128}}};
  EXPECT_EQ(loops_of(timing_of(1), layer).size(), 9U);
  CpuOperator int8 = layer;
  int8.dtype = "int8";
  EXPECT_EQ(loops_of(timing_of(1), int8).size(), 13U);  // four activations are quantised
  const CpuOperator block{
      "resnet_block", "int8", {{"b", 1}, {"channels", 256}, {"filters", 64}, {"height", 56}}};
  EXPECT_EQ(loops_of(timing_of(1), block).size(), 3U);
}

TEST(CpuTiming, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(timing_of(0), UserError);
  EXPECT_THROW(timing_of(17), UserError);
  EXPECT_THROW(time_of({"gemm", "fp32", {{"m", 1}}}, 1), UserError);
  EXPECT_THROW(time_of(gemm(1, 1, 1, "fp8"), 1), UserError);
}

}  // namespace
}  // namespace foretell
