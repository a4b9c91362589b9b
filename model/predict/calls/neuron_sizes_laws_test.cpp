// Arrays, memories and lanes of other sizes than those that anybody has built.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/predict/calls/neuron_call.hpp"
#include "model/system/simulate.hpp"
#include "model/testing/graphs.hpp"
#include "model/testing/networks.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

struct Sizes {
  int rows;
  int columns;
  int partitions;
  int lanes = 128;
};

NeuronSystemSpec system_of(const Sizes& sizes) {
  NeuronSystemSpec system = exemplar_inf2();
  NeuronCoreSpec& core = system.device.core;
  core.tensor.rows = sizes.rows;
  core.tensor.columns = sizes.columns;
  core.sbuf.partitions = core.psum.partitions = sizes.partitions;
  core.vector.lanes = core.scalar.lanes = sizes.lanes;
  core.psum.capacity = Bytes(8.0 * 1024 * 1024);
  return system;
}

NeuronCallResult run(const Graph& graph, const NeuronSystemSpec& system) {
  const PrecisionPolicy precision = find_precision("bf16-matmul");
  NeuronFactors factors;
  factors.prefetch_window_fraction = 0.4;
  return run_neuron_call({graph, precision, system, factors});
}

// With memory and lanes fast enough to wait for the array alone.
Seconds product_time(const Graph& graph, const Sizes& sizes) {
  NeuronSystemSpec system = system_of(sizes);
  system.device.hbm.bandwidth = system.device.hbm.bandwidth * 100;
  system.device.core.dma.engine_rate = system.device.core.dma.engine_rate * 100;
  system.device.core.dma.descriptor_floor = system.device.core.dma.descriptor_overhead = Seconds(0);
  for (LaneEngineSpec* lane : {&system.device.core.vector, &system.device.core.scalar})
    lane->clock = lane->clock * 100;
  return run(graph, system).metrics.device;
}

TEST(NeuronSizes, AComputeBoundProductTakesAsLongAsItsArrayIsSmall) {
  const Graph graph = linear_graph(4096, 4096, 4096);
  const Seconds base = product_time(graph, {128, 128, 128});
  const auto expect_share = [&](const Sizes& sizes) {
    const double expected = 128.0 * 128.0 / sizes.rows / sizes.columns;
    EXPECT_NEAR(product_time(graph, sizes) / base / expected, 1, 0.06)
        << sizes.rows << " x " << sizes.columns << ", " << sizes.partitions << " partitions";
  };
  expect_share({64, 64, 128});
  expect_share({64, 64, 64});
  expect_share({32, 64, 128});
  expect_share({64, 128, 128});
  expect_share({128, 256, 128});
  expect_share({256, 128, 128});
  expect_share({256, 256, 128});
  expect_share({256, 256, 256});
}

TEST(NeuronSizes, TwiceTheColumnsAreNeverSlowerForProductsThatFillThem) {
  for (const int tokens : {256, 512, 2048}) {
    const Graph graph = linear_graph(tokens, 1024, 2048);
    for (const int rows : {64, 128, 256}) {
      Seconds before = run(graph, system_of({rows, 32, 128})).metrics.device;
      for (const int columns : {64, 128, 256}) {
        const Seconds now = run(graph, system_of({rows, columns, 128})).metrics.device;
        EXPECT_LE(now / before, 1.001) << tokens << " tokens, " << rows << " x " << columns;
        before = now;
      }
    }
  }
}

double multiplications(const Program& program) {
  double macs = 0;
  for (const Instruction& i : program.engine(Engine::kTensor)) {
    if (i.opcode == Opcode::kMultiplyMoving) macs += 1.0 * i.partitions * i.aux * i.n;
  }
  return macs;
}

TEST(NeuronSizes, EveryNetworkKeepsItsMultiplicationsAndTheLimitsOfTheCore) {
  for (const char* workload : {"bert-base-uncased", "gpt2", "distilbert-base-uncased"}) {
    const Graph graph = network(workload, 2, 96);
    const double most = multiplications(*run(graph, system_of({128, 128, 128})).program);
    for (const Sizes& sizes : {Sizes{64, 64, 64, 64},
                               {64, 64, 128},
                               {32, 128, 128},
                               {96, 160, 128},
                               {256, 256, 256, 256},
                               {256, 64, 128},
                               {128, 256, 64},
                               {512, 512, 512, 512}}) {
      const NeuronSystemSpec system = system_of(sizes);
      SCOPED_TRACE(std::string(workload) + " on " + std::to_string(sizes.rows) + " x " +
                   std::to_string(sizes.columns));
      const NeuronCallResult result = run(graph, system);
      validate(*result.program, limits_of(system.device));
      EXPECT_GT(result.metrics.device, Seconds(0));
      if (sizes.rows == sizes.columns && sizes.rows <= 128) {
        EXPECT_NEAR(multiplications(*result.program) / most, 1, 0.05);
      }
    }
  }
}

TEST(NeuronSizes, MoreLanesBanksAndWiderMovesAreNeverSlower) {
  const Graph graph = network("bert-base-uncased", 4, 128);
  const NeuronSystemSpec base = exemplar_inf2();
  const Seconds before = run(graph, base).metrics.device;
  NeuronSystemSpec lanes = base;
  lanes.device.core.vector.lanes = lanes.device.core.scalar.lanes = 256;
  EXPECT_LT(run(graph, lanes).metrics.device, before);
  NeuronSystemSpec banks = base;
  banks.device.core.psum.banks = 16;
  banks.device.core.psum.capacity = base.device.core.psum.capacity * 2;
  EXPECT_LE(run(graph, banks).metrics.device / before, 1.001);
  NeuronSystemSpec narrow = base;
  narrow.device.core.tensor.max_moving = 128;
  EXPECT_GE(run(graph, narrow).metrics.device / before, 0.999);
}

// A tile that is not full costs lanes as much as one that is: lengths between two multiples of the
// array lie between them, and one token more never helps.
TEST(NeuronSizes, LengthsThatFillNoTileLieBetweenThoseThatDo) {
  for (const std::int64_t batch : {1, 3}) {
    Seconds last{};
    for (const std::int64_t tokens : {64, 65, 127, 128, 129, 196, 197, 198, 255, 256, 257}) {
      const Seconds call =
          run(network("distilbert-base-uncased", batch, tokens), exemplar_inf2()).metrics.call;
      EXPECT_GE(call, last) << batch << " x " << tokens;
      last = call;
    }
  }
}

// 196 places and a class token.
TEST(NeuronSizes, MoreImagesOfATransformerTakeLongerTogether) {
  Seconds last{};
  for (std::int64_t batch = 1; batch <= 5; ++batch) {
    const Seconds call =
        run(network("google/vit-base-patch16-224", batch, 0), exemplar_inf2()).metrics.call;
    EXPECT_GT(call, last) << batch;
    last = call;
  }
}

}  // namespace
}  // namespace foretell
