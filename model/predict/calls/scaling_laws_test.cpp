// What holds for every network: better hardware is never slower, and nothing comes from nowhere.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <string>
#include <tuple>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/mapping/neuron/map_graph.hpp"
#include "model/predict/calls/neuron_call.hpp"
#include "model/testing/graphs.hpp"
#include "model/testing/networks.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

NeuronFactors window() {
  NeuronFactors factors;
  factors.prefetch_window_fraction = 0.4;
  return factors;
}

struct CallSetup {
  NeuronSystemSpec system = exemplar_inf2();
  NeuronFactors factors = window();
  std::string precision = "bf16-matmul";
  int copies = 2;
};

NeuronCallResult call(const Graph& graph, const CallSetup& setup = {}) {
  NeuronCall neuron_call{graph, find_precision(setup.precision), setup.system, setup.factors};
  neuron_call.copies_per_device = setup.copies;
  neuron_call.exact = true;
  return run_neuron_call(neuron_call);
}

double device_seconds(const Graph& graph, const CallSetup& setup = {}) {
  return call(graph, setup).metrics.device.value();
}

// --- Better hardware -----------------------------------------------------------------------------

struct Knob {
  const char* name;
  std::function<void(NeuronDeviceSpec*, double)> improve;  // by a factor > 1
};

const std::array<Knob, 9> kKnobs = {{
    {"tensor clock", [](NeuronDeviceSpec* d, double f) { d->core.tensor.clock *= f; }},
    {"vector clock", [](NeuronDeviceSpec* d, double f) { d->core.vector.clock *= f; }},
    {"scalar clock", [](NeuronDeviceSpec* d, double f) { d->core.scalar.clock *= f; }},
    {"all clocks",
     [](NeuronDeviceSpec* d, double f) {
       d->core.tensor.clock *= f;
       d->core.vector.clock *= f;
       d->core.scalar.clock *= f;
       d->core.gpsimd.clock *= f;
     }},
    {"DMA rate", [](NeuronDeviceSpec* d, double f) { d->core.dma.engine_rate *= f; }},
    {"DMA descriptors",
     [](NeuronDeviceSpec* d, double f) {
       d->core.dma.descriptor_floor /= f;
       d->core.dma.descriptor_overhead /= f;
     }},
    {"DMA start", [](NeuronDeviceSpec* d, double f) { d->core.dma.start_latency /= f; }},
    {"DMA engines",
     [](NeuronDeviceSpec* d, double f) { d->core.dma.engines = static_cast<int>(16 * f); }},
    {"HBM bandwidth", [](NeuronDeviceSpec* d, double f) { d->hbm.bandwidth *= f; }},
}};

using Case = std::tuple<const char*, int>;  // network, batch

class BetterHardware : public ::testing::TestWithParam<Case> {
 protected:
  Graph graph(const std::string& precision = "bf16-matmul") const {
    return network(std::get<0>(GetParam()), std::get<1>(GetParam()), 128, precision);
  }
};

INSTANTIATE_TEST_SUITE_P(Networks, BetterHardware,
                         ::testing::Combine(::testing::Values("distilbert-base-uncased", "gpt2"),
                                            ::testing::Values(1, 4)));

TEST_P(BetterHardware, IsNeverSlower) {
  const Graph g = graph();
  for (const double hbm : {820e9, 300e9}) {  // DMA bound, HBM bound
    CallSetup base;
    base.system.device.hbm.bandwidth = BytesPerSecond(hbm);
    const double before = device_seconds(g, base);
    for (const Knob& knob : kKnobs) {
      for (const double factor : {1.125, 1.5, 2.0}) {
        CallSetup better = base;
        knob.improve(&better.system.device, factor);
        const double after = device_seconds(g, better);
        EXPECT_LE(after, before) << knob.name << " times " << factor << ", HBM at " << hbm << ": "
                                 << 100 * (after / before - 1) << " % slower";
      }
    }
  }
}

TEST_P(BetterHardware, SmallerDataIsNeverSlower) {
  double last = 0;
  for (const char* precision : {"fp8", "bf16", "bf16-matmul", "tf32", "fp32"}) {
    CallSetup setup;
    setup.precision = precision;
    const double seconds = device_seconds(graph(precision), setup);
    EXPECT_GE(seconds, last) << precision;
    last = seconds;
  }
}

TEST_P(BetterHardware, SharingTheDeviceIsNeverFaster) {
  const Graph g = graph();
  CallSetup alone;
  alone.copies = 1;
  EXPECT_GE(device_seconds(g), device_seconds(g, alone));
}

TEST_P(BetterHardware, TwoRunsAreTheSame) {
  const Graph g = graph();
  const NeuronCallResult a = call(g);
  const NeuronCallResult b = call(g);
  EXPECT_EQ(a.execution.end, b.execution.end);
  EXPECT_EQ(a.execution.events, b.execution.events);
  EXPECT_EQ(a.metrics.bottleneck, b.metrics.bottleneck);
  ASSERT_EQ(a.metrics.operators.size(), b.metrics.operators.size());
  for (std::size_t i = 0; i < a.metrics.operators.size(); ++i) {
    EXPECT_EQ(a.metrics.operators[i].start, b.metrics.operators[i].start);
    EXPECT_EQ(a.metrics.operators[i].critical, b.metrics.operators[i].critical);
  }
}

TEST_P(BetterHardware, BytesOutOfTheHbmAreBytesIntoTheCores) {
  const NeuronCallResult result = call(graph());
  std::uint64_t loaded = 0;
  std::uint64_t stored = 0;
  for (const ProgramExecution& core : result.execution.cores) {
    loaded += core.loaded_bytes;
    stored += core.stored_bytes;
  }
  EXPECT_GT(loaded, 0U);
  EXPECT_EQ(result.execution.hbm_read, loaded);
  EXPECT_EQ(result.execution.hbm_written, stored);
  EXPECT_DOUBLE_EQ(result.metrics.hbm_read.value(), static_cast<double>(loaded));
  EXPECT_DOUBLE_EQ(result.metrics.hbm_written.value(), static_cast<double>(stored));
}

TEST_P(BetterHardware, NothingIsBusierThanTheCallIsLong) {
  const NeuronCallResult result = call(graph());
  const Ticks device = result.execution.end - result.execution.call_begin;
  for (const ProgramExecution& core : result.execution.cores) {
    Ticks sum = 0;
    for (std::size_t e = 0; e < kEngineCount; ++e) {
      EXPECT_LE(core.busy[e] + core.stalled[e], device);
      sum += core.busy[e];
    }
    EXPECT_LE(device, sum + core.dma_busy + core.stalled[0] + core.stalled[1] + core.stalled[2]);
  }
  for (const ResourceMetrics& resource : result.metrics.resources) {
    EXPECT_GE(resource.busy, 0) << resource.path;
    EXPECT_GE(resource.stalled, 0) << resource.path;
    EXPECT_LE(resource.busy + resource.stalled, 1 + 1e-12) << resource.path;
  }
}

// --- Batches -------------------------------------------------------------------------------------

class Batches : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Networks, Batches,
                         ::testing::Values("distilbert-base-uncased", "bert-base-uncased", "gpt2"));

TEST_P(Batches, DoublingTheBatchNeverLowersTheThroughput) {
  double last = 0;
  for (const int batch : {1, 2, 4, 8}) {  // activations of 8 sequences fit the SBUF
    const double throughput = batch / call(network(GetParam(), batch, 128)).metrics.call.value();
    EXPECT_GE(throughput, last) << batch;
    last = throughput;
  }
}

TEST_P(Batches, ALargerBatchIsNeverDoneEarlier) {
  double last = 0;
  for (const int batch : {1, 2, 3, 4}) {
    const double seconds = device_seconds(network(GetParam(), batch, 128));
    EXPECT_GE(seconds, last) << batch;
    last = seconds;
  }
}

TEST_P(Batches, LongerSequencesAreNeverDoneEarlier) {
  double last = 0;
  for (const int length : {32, 64, 128, 256, 384}) {
    const double seconds = device_seconds(network(GetParam(), 1, length));
    EXPECT_GE(seconds, last) << length;
    last = seconds;
  }
}

// --- Closed forms --------------------------------------------------------------------------------

TEST(LinearLayer, TensorEngineTimeIsThatOfItsMultiplications) {
  const NeuronSystemSpec system = exemplar_inf2();
  const TensorEngineSpec& tensor = system.device.core.tensor;
  for (const std::int64_t n : {512, 2048}) {
    const std::int64_t rows = 1024, k = 1024;
    const NeuronCallResult result = call(linear_graph(rows, k, n));
    // One cycle per column that moves through a full array, and 128 per transposed block of x.
    const double macs = static_cast<double>(rows * k * n);
    const double cycles = macs / (128 * 128) + static_cast<double>(rows * k) / 128;
    const double seconds = cycles / tensor.clock.value() / tensor.sustained_efficiency;
    const Ticks busy = result.execution.cores[0].busy[static_cast<std::size_t>(Engine::kTensor)];
    EXPECT_NEAR(to_seconds(busy).value() / seconds, 1, 1e-6) << n;
  }
}

TEST(LinearLayer, NeverBeatsTheRoofline) {
  const NeuronDeviceSpec device = exemplar_inf2().device;
  const double peak = 2 * 128 * 128 * device.core.tensor.clock.value();
  const double dma = device.core.dma.engine_rate.value() * device.core.dma.engines;
  for (const std::int64_t rows : {1, 128, 1024, 8192}) {
    const Graph graph = linear_graph(rows, 2048, 2048, "bf16");
    CallSetup setup;
    setup.precision = "bf16";
    const double seconds = device_seconds(graph, setup);
    EXPECT_GT(seconds, graph.total_flops().value() / peak) << rows;
    EXPECT_GT(seconds, graph.weight_bytes().value() / dma) << rows;
  }
}

TEST(LinearLayer, ManyRowsComeNearThePeak) {
  const double peak = 2 * 128 * 128 * exemplar_inf2().device.core.tensor.clock.value();
  const Graph graph = linear_graph(8192, 2048, 2048, "bf16");
  CallSetup setup;
  setup.precision = "bf16";
  EXPECT_GT(graph.total_flops().value() / peak / device_seconds(graph, setup), 0.75);
}

}  // namespace
}  // namespace foretell
