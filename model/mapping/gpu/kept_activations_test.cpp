// Activations that a network keeps in FP32: what that costs where the host launches operator by
// operator, and nothing where a library groups them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/mapping/gpu/map_graph.hpp"
#include "model/testing/graphs.hpp"

namespace foretell {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kRows = 65536;
constexpr std::int64_t kColumns = 1024;

TensorId kept(GraphWriter& w, TensorId id) {
  w.graph().set_dtype(id, DType::kFp32);
  w.graph().keep(id);
  return id;
}

// A norm, which may stay in FP32, and a function of it between two products.
Graph normed(bool keeps, const std::string& precision) {
  GraphWriter w;
  TensorId x = w.matmul("up", w.input("x", {kRows, kColumns}), kColumns);
  x = w.graph().add_op("norm", "AlongAxis", {x},
                       {{"function", std::string("MeanVariance")}, {"axes", Shape{1}}});
  if (keeps) kept(w, x);
  return w.finish(w.matmul("down", w.gelu("gelu", x), kColumns), precision);
}

std::vector<MappedOp> map_kept(const Graph& graph, const std::string& precision, bool groups) {
  const GpuSystemSpec spec = GpuCatalog().load("h100-sxm").spec;
  const GpuFactors facts(spec.device, "none");
  GpuMapping mapping{{}, graph, find_precision(precision), spec, facts};
  mapping.fusion.groups = groups;
  return map_to_gpu(mapping);
}

std::vector<std::string> names(const std::vector<MappedOp>& ops) {
  std::vector<std::string> all;
  for (const MappedOp& op : ops) {
    for (const Grid& kernel : op.program.kernels)
      all.push_back(kernel.name.substr(0, kernel.name.find(' ')));
  }
  return all;
}

double dram_of(const std::vector<MappedOp>& ops) {
  double bytes = 0;
  for (const MappedOp& op : ops) bytes += op.dram().value();
  return bytes;
}

TEST(KeptActivations, CastsArePassesOfTheirOwnWhereNothingIsGrouped) {
  EXPECT_THAT(names(map_kept(normed(true, "bf16"), "bf16", false)),
              ElementsAre("gemm", "Cast", "AlongAxis", "Gelu", "Cast", "gemm"));
  EXPECT_THAT(names(map_kept(normed(false, "bf16"), "bf16", false)),
              ElementsAre("gemm", "AlongAxis", "Gelu", "gemm"));
  EXPECT_THAT(names(map_kept(normed(true, "bf16"), "bf16", true)),
              testing::Not(testing::Contains("Cast")));
}

// Bytes of an element: 2 + 4 for the first cast, 4 + 4 for the norm and for the function, 4 + 2
// for the second cast; without FP32 2 + 2 for each of two passes.
TEST(KeptActivations, WiderPassesMoveMore) {
  const double more = dram_of(map_kept(normed(true, "bf16"), "bf16", false)) -
                      dram_of(map_kept(normed(false, "bf16"), "bf16", false));
  EXPECT_DOUBLE_EQ(more, 20.0 * kRows * kColumns);
}

TEST(KeptActivations, InFp32NothingIsCast) {
  const auto kept_ops = map_kept(normed(true, "fp32"), "fp32", false);
  const auto others = map_kept(normed(false, "fp32"), "fp32", false);
  EXPECT_EQ(names(kept_ops), names(others));
  EXPECT_EQ(dram_of(kept_ops), dram_of(others));
}

TEST(KeptActivations, TheirProductsRunOnTheVectorPipe) {
  const auto engine = [](bool keeps) {
    GraphWriter w;
    const TensorId x = w.input("x", {8, 512, 64});
    TensorId left = w.gelu("left", x);
    if (keeps) kept(w, left);
    const TensorId right = w.graph().add_op("right", "Transpose", {x}, {{"perm", Shape{0, 2, 1}}});
    const TensorId y = w.graph().add_op("product", "MatMul", {left, right});
    return map_kept(w.finish(y, "bf16"), "bf16", false).back().engine;
  };
  EXPECT_EQ(engine(true), "vector");
  EXPECT_EQ(engine(false), "tensor");
}

}  // namespace
}  // namespace foretell
