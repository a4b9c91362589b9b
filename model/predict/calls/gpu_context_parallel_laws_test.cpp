// Prompts that several GPUs divide: what the machine makes of the keys and values that go around.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "calib/fitted/gpu/gpu_factors.hpp"
#include "hw/spec/gpu/gpu_catalog.hpp"
#include "model/mapping/gpu/gpu_precision.hpp"
#include "model/predict/calls/gpu_call.hpp"
#include "workloads/import/workload.hpp"
#include "workloads/import/workload_set.hpp"

namespace foretell {
namespace {

struct RingSetting {
  std::int64_t ranks = 4;
  std::int64_t tokens = 65'536;
  bool one_stream = false;
  bool exact = false;
  std::string gpu = "h100-sxm-x8";
  std::vector<std::string> set;
};

GpuCallResult prompt_around(const RingSetting& setting) {
  const GpuSystemSpec system = GpuCatalog().load(setting.gpu, setting.set).spec;
  const GpuFactors factors(system.device, "", {}, "trtllm");
  const PrecisionPolicy precision = precision_on_gpu(find_precision("bf16"), system.device);
  ModelConfig model = WorkloadLibrary().load("Llama-3.1-8B");
  override_workload({"workload.layers=2"}, model);
  Binding binding;
  binding.phase = Phase::kPrefill;
  binding.seq_len = binding.kv_len = setting.tokens;
  binding.context_parallel = setting.ranks;
  Graph graph = build_graph(model, binding);
  apply_precision(precision, &graph);
  GpuCall call{{}, graph, precision, system, factors};
  call.one_stream = setting.one_stream;
  call.exact = setting.exact;
  return run_gpu_call(call);
}

double time_around(const RingSetting& setting) {
  return prompt_around(setting).metrics.device.value();
}

// Half a percent: smaller products have other tiles and keep more of their operands in L2.
TEST(RingAttention, LongPromptsAreFasterOnMoreRanksButNotBeyondTheirNumber) {
  for (const std::int64_t tokens : {16'384, 65'536}) {
    RingSetting setting;
    setting.tokens = tokens;
    setting.ranks = 1;
    const double one = time_around(setting);
    double before = one;
    for (const std::int64_t ranks : {2, 4, 8}) {
      setting.ranks = ranks;
      const double time = time_around(setting);
      EXPECT_LT(time, before) << tokens << " tokens on " << ranks;
      EXPECT_GT(time, 0.995 * one / static_cast<double>(ranks)) << tokens << " tokens on " << ranks;
      before = time;
    }
  }
}

// Keys travel while a part is attended to, and what is hidden so is what one stream takes longer.
TEST(RingAttention, KeysTravelBesideAttention) {
  RingSetting setting;
  const GpuCallResult two = prompt_around(setting);
  setting.one_stream = true;
  const GpuCallResult one = prompt_around(setting);
  EXPECT_LT(two.metrics.device, one.metrics.device);
  Seconds sent;
  Seconds shown;
  for (const KernelRun& kernel : two.kernels) {
    if (kernel.engine != "link") continue;
    sent += kernel.duration;
    shown += kernel.exposed;
  }
  EXPECT_GT(sent, Seconds(0));
  EXPECT_LT(shown, sent * 0.1) << "a part of 16,384 tokens takes longer than its keys travel";
  EXPECT_THAT(two.notes, testing::Contains(testing::HasSubstr("ring attention")));
}

TEST(RingAttention, WaitsForSlowLinks) {
  RingSetting setting;
  const double fast = time_around(setting);
  setting.set = {"device.nvlink.bandwidth=2 GB/s"};
  EXPECT_GT(time_around(setting), 1.5 * fast);
}

// The bytes on the links are those of the graph: keys and values of a rank, for each other one.
TEST(RingAttention, LinksCarryTheKeysAndValues) {
  const RingSetting setting;
  Bytes link;
  for (const KernelRun& kernel : prompt_around(setting).kernels) link += kernel.link;
  constexpr double kRow = 2 * 8 * 128 * 2;  // keys and values of 8 heads of 128 in two bytes
  const double rows = static_cast<double>(setting.tokens / setting.ranks * (setting.ranks - 1));
  EXPECT_NEAR(link.value() / (2 * rows * kRow), 1, 1e-6) << "two layers";
}

TEST(RingAttention, OneGpuStandsForAll) {
  RingSetting setting;
  setting.tokens = 8192;
  const double one = time_around(setting);
  setting.exact = true;
  EXPECT_NEAR(time_around(setting) / one, 1, 1e-3);
}

}  // namespace
}  // namespace foretell
