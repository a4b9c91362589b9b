// Networks whose library runs parts of a block on a second stream: what that may change.
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

constexpr double kPicosecond = 1e-12;

struct StreamSetting {
  std::string network = "DeepSeek-R1";
  std::string library = "trtllm";
  std::int64_t batch = 32;
  LaunchKind launch = LaunchKind::kGraph;
  bool exact = false;
  bool one_stream = false;
  bool exchanges = false;  // each rank has sequences and experts of its own
  std::string gpu = "h200-sxm-x8";
  std::vector<std::string> set;
};

// A few layers of one rank of eight.
GpuCallResult decode(const StreamSetting& setting) {
  const GpuSystemSpec system = GpuCatalog().load(setting.gpu, setting.set).spec;
  const GpuFactors factors(system.device, "", {}, setting.library);
  const PrecisionPolicy precision = precision_on_gpu(find_precision("bf16"), system.device);
  ModelConfig model = WorkloadLibrary().load(setting.network);
  override_workload({"workload.layers=5"}, model);
  Binding binding;
  binding.batch = setting.batch;
  binding.seq_len = 1;
  binding.phase = Phase::kDecode;
  binding.kv_len = 1024;
  binding.tensor_parallel = setting.exchanges ? 1 : 8;
  if (setting.exchanges) binding.expert_parallel = binding.attention_data_parallel = 8;
  Graph graph = build_graph(model, binding);
  apply_precision(precision, &graph);
  GpuCall call{{}, graph, precision, system, factors};
  call.launch = setting.launch;
  call.exact = setting.exact;
  call.one_stream = setting.one_stream;
  return run_gpu_call(call);
}

double decode_time(const StreamSetting& setting) { return decode(setting).metrics.device.value(); }

bool runs_beside(const GpuCallResult& result) {
  return std::any_of(result.kernels.begin(), result.kernels.end(),
                     [](const KernelRun& kernel) { return kernel.stream == "beside"; });
}

class SecondStream : public testing::TestWithParam<const char*> {};

TEST_P(SecondStream, NeverSlowerThanTheSameKernelsOnOneNorFasterThanTheBusiestResource) {
  for (const char* network : {"DeepSeek-R1", "Qwen3.5-397B-A17B"}) {
    for (const std::int64_t batch : {1, 8, 64, 256}) {
      StreamSetting setting;
      setting.network = network;
      setting.library = GetParam();
      setting.batch = batch;
      const GpuCallResult two = decode(setting);
      setting.one_stream = true;
      const GpuCallResult one = decode(setting);
      EXPECT_TRUE(runs_beside(two)) << network << batch;
      EXPECT_FALSE(runs_beside(one)) << network << batch;
      EXPECT_EQ(two.kernels.size(), one.kernels.size());
      EXPECT_LT(two.metrics.device.value(), one.metrics.device.value()) << network << batch;
      Seconds first_stream;
      Seconds hidden;
      for (const KernelRun& kernel : two.kernels) {
        if (kernel.stream.empty()) first_stream += kernel.duration;
        hidden += kernel.duration - kernel.exposed;
      }
      EXPECT_GE(two.metrics.device.value(), first_stream.value() - kPicosecond);
      EXPECT_GT(hidden, Seconds(0));
      for (const ResourceMetrics& resource : two.metrics.resources) {
        EXPECT_LE(resource.busy + resource.stalled, 1 + 1e-9) << resource.path;
      }
    }
  }
}

// Tokens travel to their experts while the shared expert computes.
TEST_P(SecondStream, AnExchangeRunsBesideProducts) {
  StreamSetting setting;
  setting.library = GetParam();
  setting.exchanges = true;
  const std::vector<KernelRun> kernels = decode(setting).kernels;
  const auto is_beside_a_product = [&](const KernelRun& exchange) {
    return std::any_of(kernels.begin(), kernels.end(), [&](const KernelRun& other) {
      return other.stream == "beside" && other.kernel.find("gemm") == 0 &&
             other.start < exchange.start + exchange.duration &&
             exchange.start < other.start + other.duration;
    });
  };
  EXPECT_TRUE(std::any_of(kernels.begin(), kernels.end(), [&](const KernelRun& kernel) {
    return kernel.engine == "link" && kernel.stream.empty() && is_beside_a_product(kernel);
  }));
}

TEST_P(SecondStream, OperatorsAndKernelsSumUpToTheCall) {
  StreamSetting setting;
  setting.library = GetParam();
  const GpuCallResult result = decode(setting);
  Seconds operators;
  for (const OperatorMetrics& op : result.metrics.operators) operators += op.duration;
  Seconds exposed;
  for (const KernelRun& kernel : result.kernels) exposed += kernel.exposed;
  EXPECT_NEAR(operators.value(), result.metrics.device.value(), kPicosecond);
  EXPECT_NEAR(exposed.value(), result.metrics.device.value(), kPicosecond);
}

TEST_P(SecondStream, EveryGpuSimulatedGivesTheTimeOfTheShortcut) {
  StreamSetting setting;
  setting.library = GetParam();
  const double shortcut = decode_time(setting);
  setting.exact = true;
  EXPECT_NEAR(decode_time(setting), shortcut, 10 * kPicosecond);
}

TEST_P(SecondStream, ItsModulesAreReported) {
  StreamSetting setting;
  setting.library = GetParam();
  const GpuCallResult result = decode(setting);
  const auto found = [&](const char* path) {
    const std::vector<ResourceMetrics>& all = result.metrics.resources;
    return std::find_if(all.begin(), all.end(),
                        [path](const ResourceMetrics& one) { return one.path == path; });
  };
  ASSERT_NE(found("gpu0.sms"), result.metrics.resources.end());
  EXPECT_GT(found("gpu0.sms")->busy, 0);
  EXPECT_GE(found("gpu0.sms")->stalled, 0);
  ASSERT_NE(found("gpu0.stream.beside"), result.metrics.resources.end());
  EXPECT_GT(found("gpu0.stream.beside")->busy, 0);
  EXPECT_THAT(result.notes, testing::Contains(testing::HasSubstr("on a second stream")));
}

// Bytes that its two streams ask for, whatever stands there.
TEST_P(SecondStream, ASlowerMemoryCounts) {
  StreamSetting setting;
  setting.library = GetParam();
  const double rate = decode_time(setting);
  setting.set = {"device.hbm.model=banks"};
  EXPECT_GT(decode_time(setting), rate);
}

INSTANTIATE_TEST_SUITE_P(Libraries, SecondStream, testing::Values("trtllm", "vllm", "sglang"),
                         [](const auto& library) { return std::string(library.param); });

TEST(SecondStreamRules, HoldUpToTheirTokensAndWhereTheLibraryUsesThem) {
  StreamSetting setting;
  setting.library = "vllm";
  setting.batch = 257;
  EXPECT_FALSE(runs_beside(decode(setting)));
  setting.batch = 256;
  setting.launch = LaunchKind::kStream;
  EXPECT_TRUE(runs_beside(decode(setting)));
  setting.library = "trtllm";
  EXPECT_FALSE(runs_beside(decode(setting)));  // without a graph there is one stream
  setting.network = "Qwen3-30B-A3B";           // no shared experts, no latents
  setting.launch = LaunchKind::kGraph;
  EXPECT_FALSE(runs_beside(decode(setting)));
}

}  // namespace
}  // namespace foretell
