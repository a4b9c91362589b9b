// The shortcut of replaying equal layers against executing all of them, and what SBUF is worth.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <tuple>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/predict/calls/neuron_call.hpp"
#include "model/testing/networks.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

class ReplayTest : public testing::TestWithParam<std::tuple<const char*, int>> {};

TEST_P(ReplayTest, ReplayedLayersAreWithinATenthOfAPercentOfExecutedOnes) {
  const auto& [workload, batch] = GetParam();
  const PrecisionPolicy precision = find_precision("bf16-matmul");
  const Graph graph = network(workload, batch, 128);
  const NeuronSystemSpec system = exemplar_inf2();
  NeuronFactors factors;
  factors.prefetch_window_fraction = 0.4;
  NeuronCall call{graph, precision, system, factors};
  const NeuronCallResult replayed = run_neuron_call(call);
  call.exact = true;
  const NeuronCallResult executed = run_neuron_call(call);
  EXPECT_GT(replayed.replayed_layers, 0);
  EXPECT_EQ(executed.replayed_layers, 0);
  const double ratio = replayed.metrics.device / executed.metrics.device;
  EXPECT_NEAR(ratio, 1.0, 1e-3);
  EXPECT_NEAR(replayed.metrics.hbm_read / executed.metrics.hbm_read, 1.0, 1e-9);
  ASSERT_EQ(replayed.metrics.operators.size(), executed.metrics.operators.size());
  for (std::size_t i = 0; i < executed.metrics.operators.size(); ++i) {
    const OperatorMetrics& a = replayed.metrics.operators[i];
    const OperatorMetrics& b = executed.metrics.operators[i];
    EXPECT_EQ(a.name, b.name);
    EXPECT_NEAR(a.start / executed.metrics.device, b.start / executed.metrics.device, 5e-3)
        << a.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, ReplayTest,
                         testing::Combine(testing::Values("bert-large-uncased", "bert-base-cased",
                                                          "gpt2", "albert-base-v2"),
                                          testing::Values(1, 4)),
                         [](const auto& parameters) {
                           std::string name = std::get<0>(parameters.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + "_batch" + std::to_string(std::get<1>(parameters.param));
                         });

struct SmallSbuf {
  const char* workload;
  int batch;
  int seq_len;
};

class SbufTest : public testing::TestWithParam<SmallSbuf> {
 protected:
  SbufTest()
      : graph_(network(GetParam().workload, GetParam().batch, GetParam().seq_len)),
        precision_(find_precision("bf16-matmul")),
        system_(exemplar_inf2()) {
    factors_.prefetch_window_fraction = 0.3;
  }

  NeuronCallResult run(double mib, bool exact = false) {
    system_.device.core.sbuf.capacity = Bytes(mib * 1024 * 1024);
    NeuronCall call{graph_, precision_, system_, factors_};
    call.exact = exact;
    return run_neuron_call(call);
  }

  Graph graph_;
  PrecisionPolicy precision_;
  NeuronSystemSpec system_;
  NeuronFactors factors_;
};

INSTANTIATE_TEST_SUITE_P(Networks, SbufTest,
                         testing::Values(SmallSbuf{"bert-large-uncased", 8, 128},
                                         SmallSbuf{"distilbert-base-uncased", 32, 128},
                                         SmallSbuf{"gpt2", 8, 256}),
                         [](const auto& parameters) {
                           std::string name = parameters.param.workload;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

// The tolerance is for what SBUF does beside keeping activations: a wider window lets more weights
// compete with the first inputs of a call, and thresholds change the order of tiles.
TEST_P(SbufTest, ASmallerSbufIsNeverFasterAndNeverMovesLess) {
  constexpr double kSideEffects = 3e-3;
  Seconds longest(0);
  Bytes bytes(0);
  for (const double mib : {48.0, 32.0, 24.0, 16.0, 12.0, 8.0, 4.0, 2.0, 1.0, 0.5}) {
    const Metrics metrics = run(mib).metrics;
    EXPECT_GE(metrics.device / longest, 1 - kSideEffects) << mib;
    EXPECT_GE(metrics.hbm_read + metrics.hbm_written, bytes) << mib;
    longest = std::max(longest, metrics.device);
    bytes = metrics.hbm_read + metrics.hbm_written;
  }
  EXPECT_GT(longest, run(48).metrics.device * 1.02);
}

TEST_P(SbufTest, BytesIntoSbufAreBytesOutOfHbm) {
  const NeuronCallResult result = run(6, true);
  double loaded = 0;
  double stored = 0;
  double spilled = 0;
  for (std::size_t r = 0; r < result.program->ring_count(); ++r) {
    const std::string& name = result.program->streams[kEngineCount + r].name;
    for (const Transfer& t : result.program->ring(r)) {
      if (t.direction == TransferDirection::kLoad) loaded += static_cast<double>(t.bytes());
      if (t.direction == TransferDirection::kStore) stored += static_cast<double>(t.bytes());
      if (name == "spill") spilled += static_cast<double>(t.bytes());
    }
  }
  EXPECT_GT(spilled, 0);
  EXPECT_EQ(result.metrics.hbm_read.value(), loaded);
  EXPECT_EQ(result.metrics.hbm_written.value(), stored);
  double by_operator = 0;
  for (const OperatorMetrics& op : result.metrics.operators) by_operator += op.bytes.value();
  EXPECT_EQ(by_operator, loaded + stored);
}

TEST_P(SbufTest, ReplayedLayersSpillLikeExecutedOnes) {
  const NeuronCallResult replayed = run(8);
  const NeuronCallResult executed = run(8, true);
  EXPECT_NEAR(replayed.metrics.device / executed.metrics.device, 1.0, 1e-3);
  EXPECT_NEAR(replayed.metrics.hbm_read / executed.metrics.hbm_read, 1.0, 1e-3);
  // What the last layer writes has no layer after it that would read it again.
  const double layers = replayed.replayed_layers + 4;
  EXPECT_NEAR(replayed.metrics.hbm_written / executed.metrics.hbm_written, 1.0, 1 / layers);
}

TEST(NeuronCall, LayersThatAreNotSteadyAreExecuted) {
  // A window of almost nothing still gives a result; replay may need more layers, never fewer.
  const PrecisionPolicy precision = find_precision("bf16");
  const Graph graph = network("bert-large-uncased", 1, 128, "bf16");
  const NeuronSystemSpec system = exemplar_inf2();
  NeuronFactors factors;
  factors.prefetch_window_fraction = 0.02;
  const NeuronCallResult result = run_neuron_call({graph, precision, system, factors});
  EXPECT_GT(result.metrics.device, Seconds(0));
}

}  // namespace
}  // namespace foretell
