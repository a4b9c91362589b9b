// Two halves of a batch that take turns on a GPU: what that may change.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/mapping/gpu/gpu_precision.hpp"
#include "model/predict/calls/gpu_call.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/import/workload_set.hpp"
#include "workloads/ir/two_batches.hpp"

namespace foretell {
namespace {

constexpr double kShortest = 1e-12;

struct HalvesSetting {
  std::int64_t batch = 256;  // of all ranks
  std::int64_t kv_len = 1024;
  bool exchanges = true;  // each rank has sequences and experts of its own; else they share all
  bool exact = false;
  bool one_stream = false;
};

// A few layers of one rank of eight.
class TwoBatchLaws : public testing::TestWithParam<bool> {
 protected:
  TwoBatchLaws()
      : system_(GpuCatalog().load("h200-sxm-x8").spec),
        factors_(system_.device, "", {}, "sglang"),
        precision_(precision_on_gpu(find_precision("bf16"), system_.device)),
        model_(WorkloadLibrary().load("DeepSeek-R1")) {
    override_workload({"workload.layers=6"}, model_);
  }

  Graph half(const HalvesSetting& setting, std::int64_t batch) const {
    Binding binding;
    binding.batch = batch;
    binding.seq_len = 1;
    binding.phase = Phase::kDecode;
    binding.kv_len = setting.kv_len;
    binding.tensor_parallel = setting.exchanges ? 1 : 8;
    if (setting.exchanges) binding.expert_parallel = binding.attention_data_parallel = 8;
    Graph graph = build_graph(model_, binding);
    apply_precision(precision_, &graph);
    return graph;
  }

  GpuCallResult decode(const HalvesSetting& setting) const {
    const Graph both = in_turns(half(setting, setting.batch / 2), half(setting, setting.batch / 2));
    GpuCall call{{}, both, precision_, system_, factors_};
    call.exact = setting.exact;
    call.one_stream = setting.one_stream;
    return run_gpu_call(call);
  }

  GpuSystemSpec system_;
  GpuFactors factors_;
  PrecisionPolicy precision_;
  ModelConfig model_;
};

TEST_P(TwoBatchLaws, NeverSlowerThanInTurnNorFasterThanTheBusierResource) {
  for (const std::int64_t batch : {16, 64, 256, 1024}) {
    HalvesSetting setting;
    setting.exchanges = GetParam();
    setting.batch = batch;
    const GpuCallResult beside = decode(setting);
    setting.one_stream = true;
    const GpuCallResult in_turn = decode(setting);
    EXPECT_LT(beside.metrics.device.value(), in_turn.metrics.device.value()) << batch;
    std::map<bool, double> busy;  // of links, of the rest, none beside anything else
    for (const KernelRun& kernel : in_turn.kernels)
      busy[kernel.engine == "link"] += kernel.duration.value();
    EXPECT_GE(beside.metrics.device.value(), std::max(busy[true], busy[false]) - kShortest);
    EXPECT_EQ(beside.kernels.size(), in_turn.kernels.size());
  }
}

// One half exchanges while the other computes, and no half overtakes itself.
TEST_P(TwoBatchLaws, AnExchangeOfOneHalfRunsBesideTheOther) {
  HalvesSetting setting;
  setting.exchanges = GetParam();
  const GpuCallResult result = decode(setting);
  const auto is_second = [](const KernelRun& kernel) {
    return kernel.op.compare(0, kSecondHalf.size(), kSecondHalf) == 0;
  };
  std::map<bool, double> ended;  // of what a half did last
  int beside_the_other = 0;
  for (const KernelRun& kernel : result.kernels) {
    const bool second = is_second(kernel);
    EXPECT_GE(kernel.start.value(), ended[second] - kShortest) << kernel.op;
    ended[second] = (kernel.start + kernel.duration).value();
    if (kernel.engine == "link" && kernel.start.value() < ended[!second]) ++beside_the_other;
  }
  EXPECT_GT(beside_the_other, 0);
  EXPECT_THAT(result.notes, testing::Contains(testing::HasSubstr("take turns")));
}

TEST_P(TwoBatchLaws, KernelsAndOperatorsSumUpToTheCall) {
  HalvesSetting setting;
  setting.exchanges = GetParam();
  const GpuCallResult result = decode(setting);
  Seconds exposed;
  for (const KernelRun& kernel : result.kernels) exposed += kernel.exposed;
  Seconds operators;
  for (const OperatorMetrics& op : result.metrics.operators) operators += op.duration;
  EXPECT_NEAR(operators.value(), result.metrics.device.value(), kShortest);
  EXPECT_LE(exposed.value(), result.metrics.device.value() + kShortest);
}

TEST_P(TwoBatchLaws, EveryGpuSimulatedGivesTheTimeOfTheShortcut) {
  HalvesSetting setting;
  setting.exchanges = GetParam();
  const double shortcut = decode(setting).metrics.device.value();
  setting.exact = true;
  EXPECT_NEAR(decode(setting).metrics.device.value(), shortcut, 10 * kShortest);
}

// The longer attention takes, the less of an exchange nothing hides.
TEST_P(TwoBatchLaws, AttentionHidesExchanges) {
  HalvesSetting setting;
  setting.exchanges = GetParam();
  double before = 1;
  for (const std::int64_t rows : {16, 1024, 8192, 65536}) {
    setting.kv_len = rows;
    double exposed = 0;
    for (const KernelRun& kernel : decode(setting).kernels) {
      if (kernel.engine == "link") exposed += kernel.exposed.value();
    }
    EXPECT_LE(exposed, before * (1 + 1e-3)) << rows;
    before = exposed;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, TwoBatchLaws, testing::Bool(), [](const auto& exchanges) {
  return exchanges.param ? "ExpertsExchange" : "RanksSumUp";
});

}  // namespace
}  // namespace foretell
