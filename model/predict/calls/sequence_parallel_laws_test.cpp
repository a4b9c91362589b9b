// Prefill with the tokens spread over the cores against prefill with sums on every core.
#include <gtest/gtest.h>

#include "calib/fitted/neuron/neuron_factors.hpp"
#include "model/predict/calls/neuron_call.hpp"
#include "model/testing/networks.hpp"
#include "model/testing/neuron_exemplar.hpp"

namespace foretell {
namespace {

constexpr std::int64_t kTokens = 512;

ModelConfig small_decoder() {
  ModelConfig config = WorkloadLibrary().load("Llama-3-8B");
  config.layers = 3;
  config.hidden = 1024;
  config.heads = 16;
  config.kv_heads = 8;
  config.head_dim = 64;
  config.intermediate = 2048;
  config.vocab = 4096;
  config.rotary_dim = 64;
  return config;
}

class SequenceParallel : public testing::TestWithParam<int> {
 protected:
  NeuronCallResult prefill(bool spread, bool exact = false) const {
    Binding binding{1, kTokens, Phase::kPrefill, kTokens};
    binding.tensor_parallel = GetParam();
    binding.sequence_parallel = spread;
    Graph graph = build_graph(config_, binding);
    const PrecisionPolicy precision = find_precision("bf16");
    apply_precision(precision, &graph);
    NeuronFactors factors;
    factors.prefetch_window_fraction = 0.4;
    NeuronCall call{graph, precision, system_, factors};
    call.copies_per_device = system_.device.cores;
    call.tensor_parallel = GetParam();
    call.exact = exact;
    return run_neuron_call(call);
  }

  // What gathering this many tokens puts on the links.
  std::vector<LinkTraffic> gathered(std::int64_t tokens) const {
    const auto bytes = static_cast<std::uint64_t>(tokens * config_.hidden * 2);
    return execute_collective(system_, {}, {CollectiveKind::kAllGather, bytes}, GetParam()).links;
  }

  const ModelConfig config_ = small_decoder();
  const NeuronSystemSpec system_ = exemplar_inf2_ring();
};

INSTANTIATE_TEST_SUITE_P(Ranks, SequenceParallel, testing::Values(2, 4, 8));

// But for the embeddings, which are not gathered, and the last token of every core.
TEST_P(SequenceParallel, EveryLinkCarriesTheBytesOfTheSums) {
  const std::vector<LinkTraffic> sums = prefill(false).execution.links;
  const std::vector<LinkTraffic> shares = prefill(true).execution.links;
  const std::vector<LinkTraffic> embeddings = gathered(kTokens);
  const std::vector<LinkTraffic> last = gathered(GetParam());
  ASSERT_EQ(sums.size(), shares.size());
  std::uint64_t moved = 0;
  for (std::size_t l = 0; l < sums.size(); ++l) {
    EXPECT_EQ(shares[l].bytes + embeddings[l].bytes, sums[l].bytes + last[l].bytes) << "link " << l;
    moved += sums[l].bytes;
  }
  EXPECT_EQ(moved > 0, GetParam() > 2);  // two cores share a device
}

TEST_P(SequenceParallel, SharesTakeLessTime) {
  EXPECT_LT(prefill(true).metrics.device, prefill(false).metrics.device);
}

TEST_P(SequenceParallel, OneCoreStandsForAll) {
  const double one = prefill(true).metrics.device.value();
  const double all = prefill(true, true).metrics.device.value();
  EXPECT_NEAR(one / all, 1, 1e-3);
}

}  // namespace
}  // namespace foretell
