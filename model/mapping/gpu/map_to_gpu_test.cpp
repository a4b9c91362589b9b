// Kernels of graphs on a GPU: types, passes that quantise, experts, collectives, what L2 holds.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/base/errors.hpp"
#include "model/mapping/gpu/map_graph.hpp"
#include "model/mapping/shared/cache_residency.hpp"
#include "model/testing/graphs.hpp"
#include "model/timing/gpu/gpu_collective_timing.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

std::vector<MappedOp> map(const Graph& graph, const std::string& precision,
                          const std::string& system = "h100-sxm-x8",
                          const std::string& factors = "none") {
  const GpuSystemSpec spec = GpuCatalog().load(system).spec;
  const GpuFactors facts(spec.device, factors);
  return map_to_gpu({{}, graph, find_precision(precision), spec, facts});
}

std::vector<std::string> kernels_of(const std::vector<MappedOp>& ops) {
  std::vector<std::string> names;
  for (const MappedOp& op : ops) {
    for (const Grid& kernel : op.program.kernels) {
      names.push_back(kernel.name.substr(0, kernel.name.find(' ')));
    }
  }
  return names;
}

TEST(MapToGpu, AnActivationIsQuantisedOnceForAllThatReadIt) {
  GraphWriter w;
  const TensorId x = w.input("x", {4096, 1024});
  const TensorId wide = w.gelu("gelu", w.matmul("wide", x, 4096));
  w.graph().mark_output(w.matmul("other", x, 1024));
  const Graph graph = w.finish(w.matmul("down", wide, 1024), "fp8");
  // That of the network's input; the GELU writes its result in 8 bits.
  EXPECT_THAT(kernels_of(map(graph, "fp8")),
              testing::ElementsAre("quantise", "gemm", "gemm", "gemm"));
  EXPECT_THAT(kernels_of(map(graph, "fp8-weights")), testing::Each("gemm"));
}

TEST(MapToGpu, AnActivationIsWrittenInBothTypesWhereBothAreRead) {
  const auto written = [](bool read_wide) {
    GraphWriter w;
    const TensorId wide = w.gelu("gelu", w.matmul("wide", w.input("x", {4096, 1024}), 4096));
    w.graph().mark_output(w.matmul("down", wide, 1024));
    const TensorId other = read_wide ? w.gelu("other", wide) : wide;
    const Graph graph = w.finish(read_wide ? other : w.matmul("second", wide, 1024), "fp8");
    return map(graph, "fp8").at(0).dram().value();
  };
  const double element = 4096.0 * 4096;
  EXPECT_NEAR(written(true) - written(false), 2 * element, 1);
}

// What only products in 8 bits read leaves a thread block in half the time of 16 bits.
TEST(MapToGpu, AThreadBlockStoresResultsAsWideAsTheyAre) {
  const auto thread_block = [](bool read_wide) {
    GraphWriter w;
    const TensorId wide = w.gelu("gelu", w.matmul("wide", w.input("x", {65536, 64}), 256));
    w.graph().mark_output(w.matmul("down", wide, 64));
    const TensorId other = read_wide ? w.gelu("other", wide) : wide;
    const Graph graph = w.finish(read_wide ? other : w.matmul("second", wide, 64), "fp8");
    const Grid kernel = map(graph, "fp8", "h100-sxm-x8", "").at(0).program.kernels.back();
    return std::pair(kernel.name, kernel.ctas.front().duration.value());
  };
  EXPECT_EQ(thread_block(false).first, thread_block(true).first);
  EXPECT_LT(thread_block(false).second, thread_block(true).second);
}

TEST(MapToGpu, BytesOfAProductAreThoseOfItsOperandsAndResult) {
  // 400 MB of weights do not stay in L2 until the next call.
  const Graph graph = linear_graph(64, 16384, 12288, "bf16");
  const MappedOp op = map(graph, "bf16").front();
  const double weights = 2.0 * 16384 * 12288;
  const double results = 2.0 * 64 * 12288;
  const double operands = 2.0 * 64 * 16384;
  EXPECT_NEAR(op.dram().value(), weights + results + operands, 1);
}

TEST(MapToGpu, FewTokensReachFewExperts) {
  const auto dram_of = [](std::int64_t tokens) {
    GraphWriter w;
    const TensorId x = w.input("x", {1, tokens, 1, 1024});
    const TensorId choice = w.graph().add_input("choice", {1, tokens, 2}, DType::kInt32);
    const TensorId y =
        w.op("experts", "ExpertMatMul", {x, w.weight("experts.weight", {8, 1024, 8192}), choice});
    return map(w.finish(y, "bf16"), "bf16").front().dram().value();
  };
  const double expert = 2.0 * 1024 * 8192;
  EXPECT_NEAR(dram_of(1) / expert, 2, 0.1);
  EXPECT_GT(dram_of(512) / expert, 8);
}

TEST(MapToGpu, ALargeSumTakesTwoRoundsAroundTheRingAndASmallOneNone) {
  const auto time_of = [](std::int64_t rows) {
    GraphWriter w;
    const TensorId x = w.input("x", {rows, 8192});
    const TensorId sum = w.op("sum", "AllReduce", {x}, {{"ranks", std::int64_t{8}}});
    return map(w.finish(sum, "bf16"), "bf16").front().program.kernels.front();
  };
  const Grid large = time_of(16384);
  const double bytes = 2.0 * 16384 * 8192;
  EXPECT_NEAR(exchange_time(large.exchange).latency.value(), 14e-6, 1e-12);
  EXPECT_NEAR(exchange_time(large.exchange).moving.value(), 14.0 / 8 * bytes / 450e9, 1e-9);
  EXPECT_THAT(large.name, HasSubstr("ring"));
  const Grid small = time_of(1);
  EXPECT_THAT(small.name, HasSubstr("one-shot"));
  EXPECT_LT(exchange_time(small.exchange).latency.value(), 3e-6);
}

TEST(MapToGpu, FittedSumsTakeTheFastestProtocolAndMoreBytesMoreTime) {
  const auto kernel_of = [](std::int64_t rows) {
    GraphWriter w;
    const TensorId x = w.input("x", {rows, 8192});
    const TensorId sum = w.op("sum", "AllReduce", {x}, {{"ranks", std::int64_t{8}}});
    return map(w.finish(sum, "bf16"), "bf16", "h100-sxm-x8", "").front().program.kernels.front();
  };
  EXPECT_THAT(kernel_of(1).name, HasSubstr("one-shot"));
  EXPECT_THAT(kernel_of(16384).name, HasSubstr("Simple"));
  Seconds before;
  for (std::int64_t rows = 1; rows <= 16384; rows *= 2) {
    const ExchangeTime parts = exchange_time(kernel_of(rows).exchange);
    const Seconds time = parts.latency + parts.moving;
    EXPECT_GT(time, before) << rows;
    before = time;
  }
}

// Thread blocks of SGLang walk all keys for the scores of prompts.
TEST(MapToGpu, ScoresOfAWalkingIndexerSayWhatBoundsThem) {
  GraphWriter w;
  const TensorId q = w.input("q", {1, 4096, 4, 128});
  const TensorId k = w.input("k", {1, 32768, 128});
  const TensorId choice = w.op(
      "indexer", "Indexer", {q, k},
      {{"top_k", std::int64_t{16}}, {"block", std::int64_t{128}}, {"narrow", std::int64_t{0}}});
  const Graph graph = w.finish(choice, "bf16");
  const GpuSystemSpec spec = GpuCatalog().load("h200-sxm").spec;
  const GpuFactors facts(spec.device, "", {}, "sglang");
  const MappedOp op = map_to_gpu({{}, graph, find_precision("bf16"), spec, facts}).front();
  ASSERT_EQ(op.program.kernels.size(), 2);
  EXPECT_EQ(op.intervals80.size(), 2) << "one for each kernel";
  const Grid& scores = op.program.kernels.front();
  EXPECT_EQ(scores.name, "scores of an indexer");
  Seconds blocks;
  for (const CtaRun& run : scores.ctas) blocks += static_cast<double>(run.count) * run.duration;
  EXPECT_DOUBLE_EQ(scores.busy[WorkUnit::kPipelineLatency].value(),
                   blocks.value() / (spec.device.sms * scores.ctas_per_sm));
  EXPECT_EQ(scores.busy.longest(), WorkUnit::kPipelineLatency);
  EXPECT_EQ(scores.moved, scores.dram_bytes);
  EXPECT_EQ(op.kernel, scores.name);
  EXPECT_GT(op.waves, 0);
  EXPECT_GT(op.occupancy, 0);
}

TEST(MapToGpu, Fp32UsesTheVectorPipe) {
  const Graph graph = linear_graph(4096, 4096, 4096, "fp32");
  EXPECT_EQ(map(graph, "fp32").front().engine, "vector");
  const Graph narrow = linear_graph(4096, 4096, 4096, "tf32");
  EXPECT_EQ(map(narrow, "tf32").front().engine, "tensor");
}

TEST(CacheResidency, DataStayUntilTheShareIsTouched) {
  CacheResidency l2(common_factors(), Bytes(100), Bytes(1000));
  EXPECT_EQ(l2.missing(1, Bytes(10)), 1);  // from the call before
  l2.touch(1, Bytes(10));
  EXPECT_EQ(l2.missing(1, Bytes(10)), 0);
  l2.touch(2, Bytes(120));
  EXPECT_NEAR(l2.missing(1, Bytes(10)), 0.5, 1e-12);  // 130 of 100, softened over 60
  l2.touch(3, Bytes(100));
  EXPECT_EQ(l2.missing(1, Bytes(10)), 1);
}

TEST(CacheResidency, ASmallNetworkIsStillThereInTheNextCall) {
  EXPECT_EQ(CacheResidency(common_factors(), Bytes(100), Bytes(90)).missing(1, Bytes(10)), 0);
}

}  // namespace
}  // namespace foretell
