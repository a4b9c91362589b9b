// The shortcut of replaying equal layers against executing all of them.
#include <gtest/gtest.h>

#include "model/predict/neuron_call.hpp"
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
                                          testing::Values(1, 4)));

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
