// Convolutions on GPUs: implicit products, what they take into their kernel, depthwise passes.
#include "model/mapping/shared/convolution.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/mapping/gpu/map_graph.hpp"
#include "model/testing/graphs.hpp"

namespace foretell {
namespace {

using testing::HasSubstr;

using Attributes = std::map<std::string, Attribute>;

const Attributes kSame{{"pads", std::vector<std::int64_t>{1, 1, 1, 1}}};

Attributes grouped(std::int64_t groups) {
  Attributes attributes = kSame;
  attributes["group"] = groups;
  return attributes;
}

std::vector<MappedOp> mapped(const Graph& graph, const std::string& precision = "bf16") {
  const GpuSystemSpec spec = GpuCatalog().load("h100-sxm").spec;
  const GpuFactors facts(spec.device, "none");
  return map_to_gpu({{}, graph, find_precision(precision), spec, facts});
}

// x [8, channels, 56, 56] through filters [out, channels / groups, 3, 3].
Graph conv_graph(std::int64_t channels, std::int64_t out, std::int64_t groups,
                 const std::string& precision = "bf16") {
  GraphWriter w;
  const TensorId x = w.input("x", {8, channels, 56, 56});
  const TensorId weight = w.weight("conv.weight", {out, channels / groups, 3, 3});
  return w.finish(w.op("conv", "Conv", {x, weight}, grouped(groups)), precision);
}

TEST(Convolution, RowsArePixelsOfTheResultAndDepthIsTheFilter) {
  const Graph graph = conv_graph(64, 128, 1);
  const ImplicitGemm gemm = implicit_gemm(graph, graph.op(0));
  EXPECT_EQ(gemm.groups, 1);
  EXPECT_EQ(gemm.m, 8 * 56 * 56);
  EXPECT_EQ(gemm.n, 128);
  EXPECT_EQ(gemm.k, 64 * 3 * 3);
  EXPECT_FALSE(gemm.is_depthwise());
  const double flops = 2.0 * static_cast<double>(gemm.m * gemm.n * gemm.k);
  EXPECT_EQ(graph.flops(0).value(), flops);
}

TEST(Convolution, StridesShortenTheResultAndTransposedOnesSpreadTheInput) {
  GraphWriter w;
  const TensorId x = w.input("x", {2, 32, 28, 28});
  Attributes strided = kSame;
  strided["strides"] = std::vector<std::int64_t>{2, 2};
  const TensorId y = w.op("down", "Conv", {x, w.weight("a", {64, 32, 3, 3})}, strided);
  const TensorId z = w.op("up", "ConvTranspose", {y, w.weight("b", {64, 16, 2, 2})},
                          {{"strides", std::vector<std::int64_t>{2, 2}}});
  const Graph graph = w.finish(z);
  EXPECT_EQ(implicit_gemm(graph, graph.op(0)).m, 2 * 14 * 14);
  const ImplicitGemm up = implicit_gemm(graph, graph.op(1));
  EXPECT_EQ(up.m, 2 * 14 * 14);
  EXPECT_EQ(up.n, 16 * 2 * 2);
  EXPECT_EQ(up.k, 64);
}

TEST(Convolution, OfOnePixelItIsTheProductOfTheSameSizes) {
  GraphWriter w;
  const TensorId x = w.input("x", {8, 256, 56, 56});
  const Graph conv =
      w.finish(w.op("conv", "Conv", {x, w.weight("conv.weight", {512, 256, 1, 1})}), "bf16");
  const Graph linear = linear_graph(8 * 56 * 56, 256, 512, "bf16");
  const MappedOp a = mapped(conv).front();
  const MappedOp b = mapped(linear).front();
  EXPECT_EQ(a.dram(), b.dram());
  EXPECT_EQ(a.waves, b.waves);
  for (std::size_t u = 0; u < kWorkUnitCount; ++u) {
    EXPECT_EQ(a.busy()[static_cast<WorkUnit>(u)], b.busy()[static_cast<WorkUnit>(u)]) << u;
  }
  EXPECT_EQ(a.kernel, "implicit " + b.kernel);
}

TEST(Convolution, PixelsAreReadFromDramOnceHoweverManyFiltersSeeThem) {
  const MappedOp op = mapped(conv_graph(256, 256, 1)).front();
  const double pixels = 2.0 * 8 * 256 * 56 * 56;
  const double weights = 2.0 * 256 * 256 * 9;
  EXPECT_LE(op.dram().value(), 2 * pixels + weights + 1);
  EXPECT_GE(op.program.kernels.back().l2_bytes.value(), 9 * pixels);
}

TEST(Convolution, NormResidualAndActivationRideAlong) {
  GraphWriter w;
  const TensorId x = w.input("x", {8, 64, 56, 56});
  TensorId y = w.op("conv", "Conv", {x, w.weight("conv.weight", {64, 64, 3, 3})}, kSame);
  y = w.op("norm", "BatchNorm",
           {y, w.weight("scale", {64}), w.weight("offset", {64}), w.weight("mean", {64}),
            w.weight("variance", {64})});
  y = w.op("relu", "Relu", {w.op("residual", "Add", {y, x})});
  y = w.op("pool", "GlobalAveragePool", {y});
  const std::vector<MappedOp> ops = mapped(w.finish(y, "bf16"));
  ASSERT_EQ(ops.size(), 2U);
  EXPECT_THAT(ops[0].kernel, HasSubstr("implicit gemm"));
  EXPECT_EQ(ops[1].engine, "memory");
}

TEST(Convolution, DepthwiseIsAPassOverTheData) {
  const std::vector<MappedOp> ops = mapped(conv_graph(256, 256, 256));
  ASSERT_EQ(ops.size(), 1U);
  EXPECT_EQ(ops[0].engine, "memory");
  EXPECT_TRUE(ops[0].program.kernels.back().ctas.empty());
  EXPECT_EQ(mapped(conv_graph(256, 256, 32)).front().engine, "tensor");
}

TEST(Convolution, Fp8QuantisesItsInputOnce) {
  std::vector<std::string> names;
  for (const MappedOp& op : mapped(conv_graph(64, 128, 1, "fp8"), "fp8")) {
    for (const Grid& kernel : op.program.kernels) names.push_back(kernel.name);
  }
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(names[0], "quantise");
}

TEST(Convolution, MoreFiltersOrPixelsNeverTakeLess) {
  Seconds before;
  for (const std::int64_t out : {16, 64, 256, 1024}) {
    const MappedOp op = mapped(conv_graph(64, out, 1)).front();
    const Seconds time = op.busy()[WorkUnit::kTensorPipe];
    EXPECT_GE(time, before) << out;
    before = time;
  }
}

}  // namespace
}  // namespace foretell
