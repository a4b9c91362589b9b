// Energies are fitted to closed forms of kernels that tables state: networks have to count the same
// flops, special functions and bytes by level, but for bytes of memory that L2 holds.
#include <gtest/gtest.h>

#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/mapping/gpu/attention_kernels.hpp"
#include "model/mapping/gpu/layer_kernels.hpp"
#include "model/mapping/gpu/network_kernels.hpp"
#include "model/mapping/gpu/product_kernels.hpp"
#include "model/timing/gpu/experts_kernels.hpp"

namespace foretell {
namespace {

EnergyWork work_of(const MappedOp& op) {
  EnergyWork work;
  for (const Grid& kernel : op.program.kernels) {
    EXPECT_GT(kernel.work.l2, Bytes(0)) << kernel.name;  // what it moves does not count besides
    work += kernel.work;
  }
  return work;
}

void expect_same(const EnergyWork& network, const EnergyWork& row) {
  const auto near = [](double a, double b) { EXPECT_NEAR(a, b, 1e-9 * b); };
  near(network.matrix_16.value(), row.matrix_16.value());
  near(network.matrix_8.value(), row.matrix_8.value());
  near(network.matrix_4.value(), row.matrix_4.value());
  near(network.vector.value(), row.vector.value());
  near(network.exponentials, row.exponentials);
  near(network.dram.value(), row.dram.value());
  near(network.l2.value(), row.l2.value());
}

class CountedWork : public testing::Test {
 protected:
  const GpuSystemSpec system = GpuCatalog().load("h200-sxm").spec;
  const GpuDeviceSpec& device = system.device;
  const GpuFactors factors{device, "", {}, "vllm"};
};

TEST_F(CountedWork, ExpertsOfANetworkAreARowOfTheTable) {
  LayerKernels layers(system, factors, Bytes(10e9));
  for (const std::int64_t rows : {1, 4, 100}) {
    ExpertShape shape;
    shape.hidden = 2048;
    shape.intermediate = 800;  // which is not tuned
    shape.top_k = 8;
    shape.experts = 128;
    shape.held = 128;
    shape.tokens = rows * shape.experts / shape.top_k;
    shape.rows.assign(128, rows);
    MappedOp op;
    ASSERT_TRUE(layers.add_experts(shape, DType::kBf16, DType::kBf16, op));
    EXPECT_TRUE(op.is_counted);
    ExpertsShape row;
    row.tokens = shape.tokens;
    row.hidden = shape.hidden;
    row.intermediate = shape.intermediate;
    row.top_k = shape.top_k;
    row.experts = shape.experts;
    const LayerKernelFacts facts =
        LayerKernelLibrary().facts("vllm vllm_unquantizedfusedmoe_triton_tritonexperts bf16");
    ASSERT_NE(untuned_tile(facts, device.id, row), nullptr);
    const EnergyWork closed = experts_work(facts, device.id, row, expert_loads(row), {16, 2});
    expect_same(work_of(op), closed);
    const double weights = 3.0 * 2048 * 800;
    EXPECT_GT(closed.matrix_16.value(), 2 * 128 * static_cast<double>(rows) * weights) << "filled";
  }
}

TEST_F(CountedWork, AProductOfANetworkIsARowOfTheTable) {
  ProductKernels products(device, factors, 1);
  for (const auto& [name, type] :
       {std::pair{"bf16", OperandType{16, 2}}, {"fp8", OperandType{8, 1}}}) {
    for (const std::int64_t rows : {1, 200, 8192}) {
      const EnergyWork closed = gemm_energy_work({rows, 8192, 4096}, type);
      Product product;
      product.type = name;
      product.m = rows;
      product.n = 8192;
      product.k = 4096;
      product.dram = closed.dram;
      MappedOp op;
      products.add(product, op);
      EXPECT_FALSE(op.is_counted);  // arithmetic is that of the graph
      EXPECT_EQ(op.program.kernels.back().work.l2, closed.l2);
      EXPECT_EQ(op.program.kernels.back().work.dram, closed.dram);
    }
  }
}

TEST_F(CountedWork, AttentionOfANetworkIsARowOfTheTable) {
  AttentionKernels kernels(device, factors, Seconds(2e-6));
  struct Case {
    double queries;
    double keys;
    double window;
  };
  for (const Case& one :
       {Case{4096, 4096, 0}, {1024, 5120, 0}, {4096, 4096, 128}, {1, 4096, 0}, {1, 4096, 128}}) {
    const bool token = one.queries == 1;
    EnergyAttention row{8, one.queries, 0, one.keys, 32, 8, 128};
    row.pairs = token ? scored_pairs(1, one.keys - 1, one.window)
                      : executed_pairs(one.queries, one.keys - one.queries, one.window);
    if (token && one.window > 0) row.keys = one.window;
    const EnergyWork closed = attention_energy_work(row, {16, 2}, 2);
    AttentionDimensions attention{8, 32, 8, 0, 0, 128, true};
    attention.queries = static_cast<std::int64_t>(one.queries);
    attention.keys = static_cast<std::int64_t>(one.keys);
    attention.window = static_cast<std::int64_t>(one.window);
    MappedOp op;
    kernels.add(attention, {"bf16", 2, 2}, closed.dram, op);
    EXPECT_TRUE(op.is_counted);
    expect_same(work_of(op), closed);
  }
}

TEST(BitsOfRates, AreTheirLastDigits) {
  EXPECT_EQ(bits_of_rate("bf16"), 16);
  EXPECT_EQ(bits_of_rate("tf32"), 32);
  EXPECT_EQ(bits_of_rate("int8"), 8);
  EXPECT_EQ(bits_of_rate("fp4"), 4);
}

}  // namespace
}  // namespace foretell
